"""Constraints that are shipped with ciguard, for libraries that are not installed.

They refer to the documentation without quoting it, so campaigns describe their targets instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from ciguard.project import seeds_folder

if TYPE_CHECKING:
    from pathlib import Path


def shipped_folder() -> Path:
    """Return the folder of the shipped constraints."""
    return seeds_folder() / "constraints"


def shipped_files(library: str, folder: Path | None = None) -> list[Path]:
    """Return the shipped files of a library, the newest version first."""
    files = []
    for path in (folder or shipped_folder()).glob(f"{library}-*.jsonl"):
        try:
            files.append((Version(path.stem.removeprefix(f"{library}-")), path))
        except InvalidVersion:
            continue  # another library whose name has the same prefix
    return [path for _, path in sorted(files, reverse=True)]
