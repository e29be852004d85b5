"""`ciguard init --upgrade`: a three-way merge of old template, user's file and new template.

All merges are computed before any file is written. If a merge has a conflict, no file changes. The
merge is written beside the file, where the user resolves it; the next call reads the resolution.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.actions.scaffold_record import MergeConflict, ScaffoldRecord, write_record
from ciguard.actions.scaffolding import ScaffoldedFile, ScaffoldFile, read_if_any, write_file
from ciguard.domain.text import visible
from ciguard.errors import CiguardError, ConfigurationError
from ciguard.programs import run_program
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping

MERGE_SUFFIX = ".ciguard-merge"
"""Suffix of files with merge conflicts, which GitHub does not read as workflows."""
_MARKERS = ("<<<<<<< ", ">>>>>>> ")
_GIT_TIMEOUT_S = 30
_GIT_FAILED = 128


class _Label(StrEnum):
    """Labels of the three sides in conflict markers, in the order of `git merge-file`."""

    YOURS = "yours"
    BASE = "as init wrote it"
    NEW = "new in ciguard"


class UpgradeConflictError(ConfigurationError):
    """The user and ciguard changed the same lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Merge:
    """The result of merging one file."""

    path: str
    """Path relative to the root of the repository."""
    change: ScaffoldedFile
    text: str = ""
    """Merged text, with conflict markers if there is a conflict; empty if nothing is written."""
    yours: str = ""
    """Text of the user's file; only set for a conflict."""
    new: str = ""
    """Text from the new template; only set for a conflict."""


def upgrade(files: Mapping[str, str], root: Path, record: ScaffoldRecord) -> list[ScaffoldFile]:
    """Merge new templates into the files of a repository; return what was done with each file.

    Args:
        files: the texts from the new templates, by path relative to `root`.
        root: the root of the repository.
        record: the record of what `ciguard init` wrote; the file with the record is updated.

    Raises:
        UpgradeConflictError: if the user and ciguard changed the same lines. Then no file changes,
            and merges with conflict markers are written beside the files.
        OutputError: if a file cannot be written.
    """
    merges = [_merge(path, new, root, record) for path, new in files.items()]
    conflicts = [merge for merge in merges if merge.change is ScaffoldedFile.CONFLICT]
    if conflicts:
        _write_conflicts(conflicts, root, record)
    for merge in merges:
        if merge.change in {ScaffoldedFile.WRITTEN, ScaffoldedFile.UPGRADED, ScaffoldedFile.MERGED}:
            write_file(root / merge.path, merge.text)
        (root / f"{merge.path}{MERGE_SUFFIX}").unlink(missing_ok=True)
    kept = {merge.path for merge in merges if merge.change is ScaffoldedFile.UNKNOWN}
    written = {path: new for path, new in files.items() if path not in kept}
    write_record(root, replace(record, written={**record.written, **written}, conflicts={}))
    return [ScaffoldFile(path=root / merge.path, change=merge.change) for merge in merges]


def _merge(path: str, new: str, root: Path, record: ScaffoldRecord) -> _Merge:
    yours, base = read_if_any(root / path), record.written.get(path)
    if yours is None:
        change = ScaffoldedFile.WRITTEN if base is None else ScaffoldedFile.REMOVED
        return _Merge(path=path, change=change, text=new)
    if yours == new:
        return _Merge(path=path, change=ScaffoldedFile.SAME)
    if base is None:
        return _Merge(path=path, change=ScaffoldedFile.UNKNOWN)
    if yours == base:
        return _Merge(path=path, change=ScaffoldedFile.UPGRADED, text=new)
    return _merge_edited(path, (base, yours, new), root, record)


def _merge_edited(
    path: str, texts: tuple[str, str, str], root: Path, record: ScaffoldRecord
) -> _Merge:
    """Merge the new template into an edited file, or into the user's resolution of a conflict.

    Args:
        path: the path of the file, relative to `root`.
        texts: the old template, the user's file and the new template.
        root: the root of the repository.
        record: the record, which has the conflicts of earlier calls.
    """
    base, yours, new = texts
    current, is_clean = yours, True
    resolution, conflict = read_if_any(root / f"{path}{MERGE_SUFFIX}"), record.conflicts.get(path)
    if resolution is not None and conflict is not None:
        # The file may have been edited after the conflict.
        current, is_clean = _three_way_merge(conflict.yours, yours, resolution)
        base = conflict.new
    if not is_clean or _has_markers(current):
        return _Merge(
            path=path, change=ScaffoldedFile.CONFLICT, text=current, yours=yours, new=base
        )
    text, is_clean = _three_way_merge(base, current, new)
    if not is_clean:
        return _Merge(path=path, change=ScaffoldedFile.CONFLICT, text=text, yours=yours, new=new)
    change = ScaffoldedFile.SAME if text == yours else ScaffoldedFile.MERGED
    return _Merge(path=path, change=change, text=text)


def _write_conflicts(merges: list[_Merge], root: Path, record: ScaffoldRecord) -> None:
    """Write merges with conflict markers beside the files, and raise an UpgradeConflictError."""
    new = {merge.path: MergeConflict(yours=merge.yours, new=merge.new) for merge in merges}
    # Older conflicts may be resolved but not merged yet.
    conflicts = {**record.conflicts, **new}
    for merge in merges:
        write_file(root / f"{merge.path}{MERGE_SUFFIX}", merge.text)
    write_record(root, replace(record, conflicts=conflicts))
    names = ", ".join(visible(f"{merge.path}{MERGE_SUFFIX}") for merge in merges)
    msg = (
        "no file was upgraded, because you and ciguard changed the same lines. Resolve the "
        f"conflicts in {names}, then run `ciguard init --upgrade` again; `ciguard init --force` "
        "discards your changes."
    )
    raise UpgradeConflictError(msg)


def _has_markers(text: str) -> bool:
    return any(line.startswith(_MARKERS) for line in text.splitlines())


def _three_way_merge(base: str, yours: str, new: str) -> tuple[str, bool]:
    """Return the merge of two texts with the common ancestor `base`, and whether it is clean."""
    program = shutil.which("git")
    if program is None:
        msg = "git was not found. Install it: --upgrade uses it to merge your changes."
        raise CiguardError(msg)
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("init")) as name:
        paths = [Path(name) / part for part in ("yours", "base", "new")]
        for path, text in zip(paths, (yours, base, new), strict=True):
            path.write_text(text, "utf-8", newline="")
        labels = [word for label in _Label for word in ("-L", label.value)]
        result = run_program(
            [program, "merge-file", "-p", *labels, *map(str, paths)],
            limit_s=_GIT_TIMEOUT_S,
            folder=Path(name),
        )
    if not 0 <= result.code < _GIT_FAILED:
        msg = f"git merge-file failed: {visible(result.complaint)}."
        raise CiguardError(msg)
    return result.output.decode("utf-8"), result.code == 0
