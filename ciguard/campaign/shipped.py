"""The constraints that come with ciguard: what is known of a library without having it.

They refer to documentation and do not quote it, so a campaign asks its target, which has the words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from ciguard.project import seeds_folder

if TYPE_CHECKING:
    from pathlib import Path


def shipped_folder() -> Path:
    """Return where the files of constraints are."""
    return seeds_folder() / "constraints"


def shipped_files(library: str, folder: Path | None = None) -> list[Path]:
    """Return the shipped files of a library, that of the newest version first."""
    found = []
    for path in (folder or shipped_folder()).glob(f"{library}-*.jsonl"):
        try:
            found.append((Version(path.stem.removeprefix(f"{library}-")), path))
        except InvalidVersion:
            continue  # of a library whose name begins like this one's
    return [path for _, path in sorted(found, reverse=True)]
