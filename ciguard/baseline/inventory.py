"""What files a baseline is made of, for a person."""

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
    """Files that buckets are kept in, and as many for their cases; 1 for a small baseline."""
    size: int
    """Bytes of all."""
    largest: int
    leftovers: tuple[str, ...]
    """What a writer that was killed has left: not read, removed by the next one."""


def inventory(folder: Path) -> Inventory:
    """Return what a folder holds whose baseline has just been read.

    Raises:
        OSError: if a file is missing.
    """
    layout = stored_layout(folder)
    if layout is None:
        return Inventory(0, 0, 0, ())
    parts = list(layout.parts())
    every = {INDEX, *(file_of(kind, part) for kind in (BUCKETS, CORPUS) for part in parts)}
    sizes = [path.stat().st_size for path in map(folder.joinpath, every) if path.exists()]
    left = [path.relative_to(folder).as_posix() for path in leftovers(folder, layout)]
    return Inventory(len(parts), sum(sizes), max(sizes), tuple(left))
