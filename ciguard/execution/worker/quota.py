"""What a worker may fill of the disk and of the machine's tasks; the kernel bounds only one file.

RLIMIT_NPROC counts all that a user runs, and nothing of root's; a file system of its own needs
privileges. So the fork server looks at its workers some times per second, and ends the greedy.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from typing import Iterable  # noqa: UP035 - Python 3.9 in the target

from ciguard.execution.worker.reaper import processes

MAX_FILES = 10_000
"""Files and folders that a worker may leave in its folder at a time."""
MAX_BYTES = 512 * 1024 * 1024
"""Space that they may take, and those that it has deleted and still holds open."""
MAX_THREADS = 1024
"""Threads of a worker and of all that it has started."""
TICK_MS = 250
_GRACE_S = 3.0
TOO_MUCH_WRITTEN, TOO_MANY_THREADS = signal.SIGXFSZ, signal.SIGXCPU
"""Signals that end a worker, by what it took too much of; `decode` tells them apart."""


class Quota:
    """Watches the workers of one server."""

    def __init__(self, scratch: str, *, starts_processes: bool) -> None:
        """Watch workers whose folders, named by their process, are in `scratch`."""
        self._scratch = scratch
        self._starts_processes = starts_processes
        self._due = 0.0
        self._warned: dict[int, float] = {}
        """When each worker that exceeds it was sent the signal that says why."""

    def enforce(self, workers: Iterable[int]) -> None:
        """End the workers that exceed it; at most once per tick."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + TICK_MS / 1000
        for worker in workers:
            exceeded = self._exceeded(worker)
            if exceeded is not None:
                # A write under way is finished first; who ignores the signal is killed.
                is_ignored = now - self._warned.setdefault(worker, now) > _GRACE_S
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL if is_ignored else exceeded)

    def forget(self, worker: int) -> None:
        """Take note that a worker is gone: another may get its number."""
        self._warned.pop(worker, None)

    def _exceeded(self, worker: int) -> signal.Signals | None:
        if self._threads(worker) > MAX_THREADS:
            return TOO_MANY_THREADS
        files, size = usage(os.path.join(self._scratch, str(worker)))
        if files > MAX_FILES or size + held_open(worker) > MAX_BYTES:
            return TOO_MUCH_WRITTEN
        return None

    def _threads(self, worker: int) -> int:
        if not self._starts_processes:
            with contextlib.suppress(OSError):
                return len(os.listdir(f"/proc/{worker}/task"))
            return 0
        family, threads = {worker}, 0
        for process in sorted(processes()):  # parents have lower numbers, until those wrap around
            if process.number in family or process.parent in family:
                family.add(process.number)
                threads += process.threads
        return threads


def usage(folder: str) -> tuple[int, int]:
    """Return how many files are below a folder and the bytes they take; stops past the quota."""
    files = size = 0
    remaining = [folder]
    while remaining and files <= MAX_FILES:
        try:
            with os.scandir(remaining.pop()) as entries:
                for entry in entries:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        remaining.append(entry.path)
                    if files > MAX_FILES:
                        break
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # thousands of folders, one in another
                return MAX_FILES + 1, size
    return files, size


def held_open(worker: int) -> int:
    """Return the bytes of files without a name that a process keeps by holding them open."""
    size = 0
    folder = f"/proc/{worker}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                status = os.stat(os.path.join(folder, name))
                if status.st_nlink == 0:
                    size += status.st_blocks * 512
    return size
