"""The files that `ciguard init` writes, from templates beside this module."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.errors import OutputError
from ciguard.files import read_text, replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.actions.repository import ActionSource, Repository

WORKFLOWS = ("ciguard.yml", "ciguard-nightly.yml", "ciguard-file-issues.yml")
CONFIGURATION = "ciguard.toml"
_MOST_BYTES = 1024 * 1024


class Fate(StrEnum):
    """What became of one file."""

    WRITTEN = "written"
    SAME = "as it is already"
    KEPT = "kept: it says something else, and --force was not given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One file and what became of it."""

    path: Path
    fate: Fate


def contents(repository: Repository, source: ActionSource) -> dict[str, str]:
    """Return the text of every file by its path below the repository's root."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - no step does

    # Brackets, since braces belong to GitHub's expressions.
    templates = Environment(
        loader=PackageLoader("ciguard.actions", "scaffold"),
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - YAML; every value has been matched against a pattern
    )
    values = {
        "workflows": f"{source.repository}/.github/workflows",
        "commit": source.ref,
        "tag": source.tag,
        "gpu_runner": repository.gpu_runner,
        "builds": repository.builds,
        "minute": repository.minute,
        "hour": repository.hour,
        "are_required": repository.are_required,
        "targets": json.dumps(repository.targets),
    }
    paths = {f".github/workflows/{name}": name for name in WORKFLOWS} | {
        CONFIGURATION: CONFIGURATION
    }
    return {
        path: templates.get_template(f"{name}.j2").render(values) for path, name in paths.items()
    }


def write_all(files: dict[str, str], root: Path, *, force: bool) -> list[Written]:
    """Write files, and leave alone what says something else unless `force`.

    Raises:
        OutputError: if one cannot be written.
    """
    return [
        Written(path=root / name, fate=_write(root / name, text, force=force))
        for name, text in files.items()
    ]


def _write(path: Path, text: str, *, force: bool) -> Fate:
    try:
        if path.is_file() and read_text(path, most=_MOST_BYTES) == text:
            return Fate.SAME
        if path.exists() and not force:
            return Fate.KEPT
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except (OSError, ValueError) as error:
        msg = f"{path}: cannot be written: {error}. Make it writable, or move it away."
        raise OutputError(msg) from error
    return Fate.WRITTEN
