"""Limits on stray processes: daemons and other processes that outlive the worker that started them.

The quota of a worker does not count them, as the kernel does not record who started them.
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
    mapped_deleted_bytes,
    open_deleted_bytes,
)
from ciguard.execution.worker.reaper import Process, processes


def kill_excessive_strays(writable: Sequence[str], server: int) -> None:
    """Kill all strays if they have too many threads, or hold too large deleted files.

    Args:
        writable: folders that can contain such files.
        server: process id of the fork server, the only child that is not a stray.
    """
    strays = [child for child in _children() if child != server]
    if not strays:
        return
    all_processes = sorted(processes())
    family = [process for stray in strays for process in family_of(stray, all_processes)]
    threads = sum(process.threads for process in family)
    if threads > MAX_THREADS or _deleted_bytes(family, writable) > MAX_BYTES:
        for process in family:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.number, signal.SIGKILL)


def _children() -> List[int]:
    process_id = os.getpid()
    try:
        with open(f"/proc/self/task/{process_id}/children", encoding="ascii") as file:
            return list(map(int, file.read().split()))
    except OSError:  # a kernel without that file
        return [process.number for process in processes() if process.parent == process_id]


def _deleted_bytes(family: Sequence[Process], writable: Sequence[str]) -> int:
    folders = folders_of(writable)
    size = 0
    for process in family:
        with contextlib.suppress(PermissionError):  # without Landlock, processes hide
            size += open_deleted_bytes(process.number) + mapped_deleted_bytes(
                process.number, folders
            )
    return size
