"""`ciguard init --upgrade`: what init once wrote, what people made of it, and what is new.

All merges are made before anything is written. With a conflict nothing is: the merge lies beside
the file, where its resolution is taken from by the next call.
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
"""Suffix of the file that holds a merge with conflicts; GitHub reads no workflow of that name."""
_MARKERS = ("<<<<<<< ", ">>>>>>> ")
_GIT_TIMEOUT_S = 30
_GIT_FAILED = 128


class _Label(StrEnum):
    YOURS = "yours"
    BASE = "as init wrote it"
    NEW = "new in ciguard"


class UpgradeConflictError(ConfigurationError):
    """Some lines were changed by people and by ciguard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Merge:
    path: str
    fate: Fate
    text: str = ""
    yours: str = ""
    new: str = ""


def upgrade(files: Mapping[str, str], root: Path, record: ScaffoldRecord) -> list[WrittenFile]:
    """Merge what is new into the files of a repository.

    Args:
        files: what init writes now, by path below the root.
        root: of the repository.
        record: what init wrote, which is brought up to date.

    Raises:
        UpgradeConflictError: if lines were changed on both sides. No file is changed then; the
            merges lie beside them.
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
    """Merge what is new into an edited file, or into what a person resolved a conflict to."""
    base, yours, new = texts
    settled, is_clean = yours, True
    side, offer = read_if_any(root / f"{path}{SIDE}"), record.offered.get(path)
    if side is not None and offer is not None:
        # The file may have been edited since.
        settled, is_clean = _three_way(offer.yours, yours, side)
        base = offer.new
    if not is_clean or _has_markers(settled):
        return _Merge(path=path, fate=Fate.CONFLICT, text=settled, yours=yours, new=base)
    text, is_clean = _three_way(base, settled, new)
    if not is_clean:
        return _Merge(path=path, fate=Fate.CONFLICT, text=text, yours=yours, new=new)
    return _Merge(path=path, fate=Fate.SAME if text == yours else Fate.MERGED, text=text)


def _offer(conflicts: list[_Merge], root: Path, record: ScaffoldRecord) -> None:
    fresh = {merge.path: Offer(yours=merge.yours, new=merge.new) for merge in conflicts}
    offered = {**record.offered, **fresh}  # others may be resolved by now
    for merge in conflicts:
        write_file(root / f"{merge.path}{SIDE}", merge.text)
    write_record(root, replace(record, offered=offered))
    names = ", ".join(visible(f"{merge.path}{SIDE}") for merge in conflicts)
    msg = (
        f"nothing was upgraded: you and ciguard changed the same lines. Resolve them in {names}, "
        "then call `ciguard init --upgrade` again; --force gives up your changes."
    )
    raise UpgradeConflictError(msg)


def _has_markers(text: str) -> bool:
    return any(line.startswith(_MARKERS) for line in text.splitlines())


def _three_way(base: str, yours: str, new: str) -> tuple[str, bool]:
    """Return the merge of two texts that come from one, and whether it has no conflicts."""
    program = shutil.which("git")
    if program is None:
        msg = "there is no git. Install it: it merges your changes with what is new."
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
