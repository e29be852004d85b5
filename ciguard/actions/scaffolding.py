"""The files that `ciguard init` writes, from the templates beside this module."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.actions.scaffold_record import write_record
from ciguard.errors import OutputError
from ciguard.files import read_text, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.actions.repository import ActionSource, DetectedRepository
    from ciguard.actions.scaffold_record import ScaffoldRecord

WORKFLOWS = ("ciguard.yml", "ciguard-nightly.yml", "ciguard-file-issues.yml")
CONFIGURATION = "ciguard.toml"
_SCRIPT = {"ci/ciguard.sh": "ciguard.sh"}
_TEMPLATES = {
    "github": {f".github/workflows/{name}": name for name in WORKFLOWS},
    "gitlab": {**_SCRIPT, ".gitlab/ciguard.gitlab-ci.yml": "ciguard.gitlab-ci.yml"},
    "jenkins": {**_SCRIPT, "ci/ciguard.Jenkinsfile": "ciguard.Jenkinsfile"},
    "cron": {**_SCRIPT, "ci/ciguard.crontab": "ciguard.crontab"},
}
"""Names of templates by the path of the file, for each CI system."""
CI_SYSTEMS = tuple(_TEMPLATES)
_MAX_BYTES = 1024 * 1024


class Fate(StrEnum):
    """What init did with one file."""

    WRITTEN = "written"
    SAME = "unchanged"
    KEPT = "kept: it differs, and --force was not used"
    OLD = "kept: init wrote an older text; --upgrade merges your changes with the new one"
    UPGRADED = "upgraded"
    MERGED = "merged: your changes are kept"
    CONFLICT = "changed by you and by ciguard"
    REMOVED = "not written: you removed it after init wrote it"
    UNKNOWN = "kept: there is no record of what init wrote; compare by hand, or use --force"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """One file, and what init did with it."""

    path: Path
    fate: Fate


def contents(
    repository: DetectedRepository, source: ActionSource, ci: str = "github"
) -> dict[str, str]:
    """Return the texts of all files, by path below the repository's root."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - no step does

    # Brackets as delimiters, since GitHub's expressions and bash use braces.
    templates = Environment(
        loader=PackageLoader("ciguard.actions", "scaffold"),
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - YAML; every value has been matched against a pattern
    )
    values = {
        "workflows": f"{source.repository}/.github/workflows",
        "repository": source.repository,
        "commit": source.ref,
        "tag": source.tag,
        "gpu_runner": repository.gpu_runner,
        "builds": repository.builds,
        "branch": repository.default_branch,
        "minute": repository.minute,
        "hour": repository.hour,
        "are_required": repository.are_required,
        "targets": json.dumps(repository.targets),
    }
    paths = _TEMPLATES[ci] | {CONFIGURATION: CONFIGURATION}
    return {
        path: templates.get_template(f"{name}.j2").render(values) for path, name in paths.items()
    }


def write_all(
    files: Mapping[str, str], root: Path, record: ScaffoldRecord, *, force: bool
) -> list[WrittenFile]:
    """Write files, except existing ones that differ unless `force`, and the record.

    Raises:
        OutputError: if one cannot be written.
    """
    written = [
        WrittenFile(path=root / name, fate=_write(root, name, text, record, force=force))
        for name, text in files.items()
    ]
    kept = {file.path for file in written if file.fate in {Fate.KEPT, Fate.OLD}}
    recorded = {name: text for name, text in files.items() if root / name not in kept}
    write_record(root, replace(record, written={**record.written, **recorded}))
    return written


def _write(root: Path, name: str, text: str, record: ScaffoldRecord, *, force: bool) -> Fate:
    path = root / name
    present = read_if_any(path)
    if present == text:
        return Fate.SAME
    if present is not None and not force:
        return Fate.OLD if name in record.written else Fate.KEPT
    write_file(path, text)
    return Fate.WRITTEN


def read_if_any(path: Path) -> str | None:
    """Return the text of a file; None if there is none.

    Raises:
        OutputError: if it cannot be read.
    """
    try:
        return read_text(path, most=_MAX_BYTES) if path.exists() or path.is_symlink() else None
    except (OSError, ValueError) as error:
        msg = f"{path}: cannot be read: {error}. Make it a text file, or move it away."
        raise OutputError(msg) from error


def write_file(path: Path, text: str) -> None:
    """Write a file, and create its folders.

    Raises:
        OutputError: if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        msg = f"{path}: cannot be written: {error}. Make it writable, or move it away."
        raise OutputError(msg) from error
