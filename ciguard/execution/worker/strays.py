"""Processes that a worker has left to the reaper, such as daemons: bounded in sum.

No quota of a worker counts them any more: the kernel keeps no record of who has started them.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import List, Sequence

from ciguard.execution.worker.quota import (
    MAX_BYTES,
    MAX_THREADS,
    family_of,
    folders_of,
    held_mapped,
    held_open,
)
from ciguard.execution.worker.reaper import Process, processes


def end_greedy(writable: Sequence[str], server: int) -> None:
    """End all strays if they have too many threads, or keep too large files without a name.

    Args:
        writable: the folders below which such files can be.
        server: the one child of this process that is no stray.
    """
    strays = [child for child in _children() if child != server]
    if not strays:
        return
    known = sorted(processes())
    family = [process for stray in strays for process in family_of(stray, known)]
    threads = sum(process.threads for process in family)
    if threads > MAX_THREADS or _held(family, writable) > MAX_BYTES:
        for process in family:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.number, signal.SIGKILL)


def _children() -> List[int]:
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", encoding="ascii") as file:
            return list(map(int, file.read().split()))
    except OSError:  # a kernel without that file
        return [process.number for process in processes() if process.parent == own]


def _held(family: Sequence[Process], writable: Sequence[str]) -> int:
    folders = folders_of(writable)
    size = 0
    for process in family:
        with contextlib.suppress(PermissionError):  # it hides, where there is no Landlock
            size += held_open(process.number) + held_mapped(process.number, folders)
    return size
