"""`ciguard init --upgrade`: a three-way merge of old template, the user's file and new template.

All merges are computed before any file is written. If one has a conflict, no file changes: the
merges are written beside the files, where the next call reads the resolution.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.actions.scaffold_record import Offer, ScaffoldRecord, write_record
from ciguard.actions.scaffolding import Fate, WrittenFile, read_if_any, write_file
from ciguard.domain.text import visible
from ciguard.errors import CiguardError, ConfigurationError
from ciguard.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping

SIDE = ".ciguard-merge"
"""Suffix of files with conflicting merges, which GitHub does not read as workflows."""
_MARKERS = ("<<<<<<< ", ">>>>>>> ")
_GIT_TIMEOUT_S = 30
_GIT_FAILED = 128


class _Label(StrEnum):
    YOURS = "yours"
    BASE = "as init wrote it"
    NEW = "new in ciguard"


class UpgradeConflictError(ConfigurationError):
    """The user and ciguard changed the same lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Merge:
    path: str
    fate: Fate
    text: str = ""
    yours: str = ""
    new: str = ""


def upgrade(files: Mapping[str, str], root: Path, record: ScaffoldRecord) -> list[WrittenFile]:
    """Merge new templates into the files of a repository.

    Args:
        files: the new texts, by path below the root.
        root: the root of the repository.
        record: the record of what init wrote, which is updated.

    Raises:
        UpgradeConflictError: if both sides changed the same lines. No file changes then; the merges
            are written beside the files.
        OutputError: if a file cannot be written.
    """
    merges = [_merge(path, new, root, record) for path, new in files.items()]
    conflicts = [merge for merge in merges if merge.fate is Fate.CONFLICT]
    if conflicts:
        _offer(conflicts, root, record)
    for merge in merges:
        if merge.fate in {Fate.WRITTEN, Fate.UPGRADED, Fate.MERGED}:
            write_file(root / merge.path, merge.text)
        (root / f"{merge.path}{SIDE}").unlink(missing_ok=True)
    kept = {merge.path for merge in merges if merge.fate is Fate.UNKNOWN}
    written = {path: new for path, new in files.items() if path not in kept}
    write_record(root, replace(record, written={**record.written, **written}, offered={}))
    return [WrittenFile(path=root / merge.path, fate=merge.fate) for merge in merges]


def _merge(path: str, new: str, root: Path, record: ScaffoldRecord) -> _Merge:
    yours, base = read_if_any(root / path), record.written.get(path)
    if yours is None:
        return _Merge(path=path, fate=Fate.WRITTEN if base is None else Fate.REMOVED, text=new)
    if yours == new:
        return _Merge(path=path, fate=Fate.SAME)
    if base is None:
        return _Merge(path=path, fate=Fate.UNKNOWN)
    if yours == base:
        return _Merge(path=path, fate=Fate.UPGRADED, text=new)
    return _merge_edited(path, (base, yours, new), root, record)


def _merge_edited(
    path: str, texts: tuple[str, str, str], root: Path, record: ScaffoldRecord
) -> _Merge:
    """Merge the new text into an edited file, or into the user's resolution of a conflict."""
    base, yours, new = texts
    current, is_clean = yours, True
    side, offer = read_if_any(root / f"{path}{SIDE}"), record.offered.get(path)
    if side is not None and offer is not None:
        # The file may have been edited after the conflict.
        current, is_clean = _three_way(offer.yours, yours, side)
        base = offer.new
    if not is_clean or _has_markers(current):
        return _Merge(path=path, fate=Fate.CONFLICT, text=current, yours=yours, new=base)
    text, is_clean = _three_way(base, current, new)
    if not is_clean:
        return _Merge(path=path, fate=Fate.CONFLICT, text=text, yours=yours, new=new)
    return _Merge(path=path, fate=Fate.SAME if text == yours else Fate.MERGED, text=text)


def _offer(conflicts: list[_Merge], root: Path, record: ScaffoldRecord) -> None:
    offers = {merge.path: Offer(yours=merge.yours, new=merge.new) for merge in conflicts}
    offered = {**record.offered, **offers}  # older ones may be resolved but not merged yet
    for merge in conflicts:
        write_file(root / f"{merge.path}{SIDE}", merge.text)
    write_record(root, replace(record, offered=offered))
    names = ", ".join(visible(f"{merge.path}{SIDE}") for merge in conflicts)
    msg = (
        f"no file was upgraded: you and ciguard changed the same lines. Resolve them in {names}, "
        "then call `ciguard init --upgrade` again; --force discards your changes."
    )
    raise UpgradeConflictError(msg)


def _has_markers(text: str) -> bool:
    return any(line.startswith(_MARKERS) for line in text.splitlines())


def _three_way(base: str, yours: str, new: str) -> tuple[str, bool]:
    """Return the merge of two texts with a common ancestor, and whether it is free of conflicts."""
    program = shutil.which("git")
    if program is None:
        msg = "git was not found. Install it: --upgrade uses it to merge your changes."
        raise CiguardError(msg)
    with tempfile.TemporaryDirectory(prefix="ciguard-init-") as name:
        paths = [Path(name) / part for part in ("yours", "base", "new")]
        for path, text in zip(paths, (yours, base, new), strict=True):
            path.write_text(text, "utf-8", newline="")
        labels = [word for label in _Label for word in ("-L", label.value)]
        done = run_program(
            [program, "merge-file", "-p", *labels, *map(str, paths)],
            limit_s=_GIT_TIMEOUT_S,
            folder=Path(name),
        )
    if not 0 <= done.code < _GIT_FAILED:
        msg = f"git merge-file failed: {visible(done.complaint)}."
        raise CiguardError(msg)
    return done.output.decode("utf-8"), done.code == 0
