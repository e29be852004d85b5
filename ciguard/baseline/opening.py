"""Selection of the store for a baseline's location."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.baseline.git_branch import GitBranchStore
from ciguard.baseline.store import FolderStore
from ciguard.config import GitBranch

if TYPE_CHECKING:
    from ciguard.baseline.store import BaselineStore
    from ciguard.config import Location


def open_store(location: Location) -> BaselineStore:
    """Return the store of a baseline, without reading it."""
    if isinstance(location, GitBranch):
        return GitBranchStore(location)
    return FolderStore(location)
