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
"""Name of the template of each file by the file's path, for each CI system."""
CI_SYSTEMS = tuple(_TEMPLATES)
_MAX_BYTES = 1024 * 1024


class ScaffoldedFile(StrEnum):
    """What `ciguard init` did with one file, in words for the user."""

    WRITTEN = "written"
    SAME = "unchanged"
    KEPT = "kept: the file has other content; --force overwrites the file"
    OLD = (
        "kept: `ciguard init` wrote an older text; --upgrade merges your changes into the new text"
    )
    UPGRADED = "upgraded"
    MERGED = "merged: your changes are kept"
    CONFLICT = "not merged: you and ciguard changed the same lines"
    REMOVED = "not written: you removed the file after `ciguard init` wrote it"
    UNKNOWN = (
        "kept: there is no record of what `ciguard init` wrote; merge the file by hand, or "
        "overwrite it with --force"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldFile:
    """One file, and what `ciguard init` did with it."""

    path: Path
    change: ScaffoldedFile


def render_files(
    repository: DetectedRepository, source: ActionSource, ci: str = "github"
) -> dict[str, str]:
    """Return the texts of all files, by path relative to the repository's root."""
    # Imported here, because only `ciguard init` needs it, and not the steps of the action.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    # The delimiters are brackets, since GitHub's expressions and bash use braces.
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
        autoescape=False,  # noqa: S701 - not HTML; a pattern has validated every value
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
        "has_required_targets": repository.has_required_targets,
        "targets": json.dumps(repository.targets),
        "functions": json.dumps(repository.functions) if repository.functions else "",
    }
    paths = _TEMPLATES[ci] | {CONFIGURATION: CONFIGURATION}
    return {
        path: templates.get_template(f"{name}.j2").render(values) for path, name in paths.items()
    }


def write_all(
    files: Mapping[str, str], root: Path, record: ScaffoldRecord, *, force: bool
) -> list[ScaffoldFile]:
    """Write the files and the record; return what was done with each file.

    Args:
        files: the texts, by path relative to `root`.
        root: the root of the repository.
        record: the record of the last call.
        force: whether to overwrite existing files with other content.

    Raises:
        OutputError: if a file cannot be written.
    """
    scaffold_files = [
        ScaffoldFile(path=root / name, change=_write(root, name, text, record, force=force))
        for name, text in files.items()
    ]
    is_kept = {ScaffoldedFile.KEPT, ScaffoldedFile.OLD}
    kept = {file.path for file in scaffold_files if file.change in is_kept}
    recorded = {name: text for name, text in files.items() if root / name not in kept}
    write_record(root, replace(record, written={**record.written, **recorded}))
    return scaffold_files


def _write(
    root: Path, name: str, text: str, record: ScaffoldRecord, *, force: bool
) -> ScaffoldedFile:
    path = root / name
    existing = read_if_any(path)
    if existing == text:
        return ScaffoldedFile.SAME
    if existing is not None and not force:
        return ScaffoldedFile.OLD if name in record.written else ScaffoldedFile.KEPT
    write_file(path, text)
    return ScaffoldedFile.WRITTEN


def read_if_any(path: Path) -> str | None:
    """Return the text of a file; None if the file does not exist.

    Raises:
        OutputError: if the file cannot be read.
    """
    try:
        return read_text(path, most=_MAX_BYTES) if path.exists() or path.is_symlink() else None
    except (OSError, ValueError) as error:
        msg = f"{path}: cannot be read: {error}. Make it a text file, or move it away."
        raise OutputError(msg) from error


def write_file(path: Path, text: str) -> None:
    """Write a file, and create its folder if needed.

    Raises:
        OutputError: if the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        msg = f"{path}: cannot be written: {error}. Make it writable, or move it away."
        raise OutputError(msg) from error
