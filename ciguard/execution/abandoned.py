"""Removal of the temporary folders that killed processes of ciguard have left."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from ciguard.execution.worker.removal import remove_tree
from ciguard.scratch import is_abandoned


@cache
def sweep_once() -> None:
    """Remove the abandoned folders beside the temporary ones of this process, at its first call."""
    sweep_abandoned(Path(tempfile.gettempdir()))


def sweep_abandoned(folder: Path) -> None:
    """Remove the abandoned temporary folders in a folder.

    Never raise, as a folder that cannot be removed must not prevent the next run.
    """
    paths: list[Path] = []
    with suppress(OSError):
        paths = list(folder.iterdir())
    for path in paths:
        if is_abandoned(path):
            remove_tree(str(path))
