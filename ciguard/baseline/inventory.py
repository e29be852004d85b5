"""Inventory of a baseline's files: their number and sizes, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.baseline.files import stored_layout
from ciguard.baseline.layout import BUCKETS, CORPUS, INDEX, file_of, leftovers

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Inventory:
    """The files of one baseline."""

    parts: int
    """Number of files with buckets, and of files with cases; 1 for a small baseline."""
    size: int
    """Size of all files, in bytes."""
    largest: int
    """Size of the largest file, in bytes."""
    leftovers: tuple[str, ...]
    """Paths of unused files that killed processes left; the next write removes them."""


def inventory(folder: Path) -> Inventory:
    """Return the inventory of a folder with a validated baseline.

    Raises:
        OSError: if a file is missing.
    """
    layout = stored_layout(folder)
    if layout is None:
        return Inventory(0, 0, 0, ())
    parts = list(layout.parts())
    files = {INDEX, *(file_of(kind, part) for kind in (BUCKETS, CORPUS) for part in parts)}
    sizes = [path.stat().st_size for path in map(folder.joinpath, files) if path.exists()]
    unused = [path.relative_to(folder).as_posix() for path in leftovers(folder, layout)]
    return Inventory(len(parts), sum(sizes), max(sizes), tuple(unused))
