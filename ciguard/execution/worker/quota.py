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
from typing import Iterable, Sequence

from ciguard.execution.worker.reaper import Process, processes
from ciguard.execution.worker.removal import remove_tree

MAX_FILES = 10_000
"""Files and folders that a worker may leave in its folder at a time."""
MAX_BYTES = 512 * 1024 * 1024
"""Space that they may take, and those that it has deleted and still holds open or has mapped."""
MAX_COMPILED, MAX_COMPILED_BYTES = 20_000, 1024 * 1024 * 1024
"""Files, of some kilobytes each, that workers keep for each other, and their size."""
MAX_THREADS = 1024
"""Threads of a worker and of all that it has started."""
TICK_MS = 250
_GRACE_S = 3.0
_REMOVAL_LIMIT_S = 5.0
_DELETED = b" (deleted)"
TOO_MUCH_WRITTEN, TOO_MANY_THREADS = signal.SIGXFSZ, signal.SIGXCPU
"""Signals that end a worker, by what it took too much of; `decode` tells them apart."""


class Quota:
    """Watches the workers of one server, and what they have started."""

    def __init__(
        self, scratch: str, writable: Sequence[str], *, starts_processes: bool, sees_files: bool
    ) -> None:
        """Watch workers.

        Args:
            scratch: where their folders are, named by their process.
            writable: the folders below which files can be that have no name any more.
            starts_processes: whether they may start others.
            sees_files: whether the kernel shows this process the files that its workers have open,
                unless those hide on purpose.
        """
        self._scratch = scratch
        self._writable = folders_of(writable)
        self._starts_processes = starts_processes
        self._sees_files = sees_files
        self._due = 0.0
        self._warned: dict[int, float] = {}
        """When each worker that exceeds it was sent the signal that says why."""

    def enforce(self, workers: Iterable[int]) -> None:
        """End the workers that exceed it; at most once per tick."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + TICK_MS / 1000
        known = sorted(processes()) if self._starts_processes else []
        for worker in workers:
            exceeded = self._exceeded(worker, known)
            if exceeded is not None:
                # A write under way is finished first; who ignores the signal is killed.
                is_ignored = now - self._warned.setdefault(worker, now) > _GRACE_S
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL if is_ignored else exceeded)

    def forget(self, worker: int) -> None:
        """Take note that a worker is gone: another may get its number."""
        self._warned.pop(worker, None)

    def _exceeded(self, worker: int, known: Sequence[Process]) -> signal.Signals | None:
        family = family_of(worker, known)
        threads = sum(process.threads for process in family) if known else _threads(worker)
        if threads > MAX_THREADS:
            return TOO_MANY_THREADS
        files, size = usage(os.path.join(self._scratch, str(worker)))
        members = [process.number for process in family] or [worker]
        size += sum(map(self._held, members))
        return TOO_MUCH_WRITTEN if files > MAX_FILES or size > MAX_BYTES else None

    def _held(self, process: int) -> int:
        """Return the bytes of files without a name that a process keeps."""
        try:
            return held_open(process) + held_mapped(process, self._writable)
        except PermissionError:
            return MAX_BYTES + 1 if self._sees_files and _has_memory(process) else 0


def folders_of(writable: Sequence[str]) -> tuple[bytes, ...]:
    """Return folders as the names of files below them begin in `/proc`."""
    return tuple(os.fsencode(os.path.realpath(path)) + b"/" for path in writable)


def family_of(worker: int, known: Sequence[Process]) -> list[Process]:
    """Return a worker and all that it has started, of processes sorted by number."""
    numbers, family = {worker}, []
    for process in known:  # parents have lower numbers, until those wrap around
        if process.number in numbers or process.parent in numbers:
            numbers.add(process.number)
            family.append(process)
    return family


def _threads(worker: int) -> int:
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{worker}/task"))
    return 0


def _has_memory(process: int) -> bool:
    """Return whether a process lives: of one that is ending nothing can be seen either."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/statm", "rb") as file:
        return int(file.read().split()[0]) > 0
    return False


def usage(folder: str, most: int = MAX_FILES, most_bytes: int = MAX_BYTES) -> tuple[int, int]:
    """Return how many files are below a folder and the bytes they take; stops past the quota."""
    files = size = 0
    remaining = [folder]
    while remaining and files <= most and size <= most_bytes:
        try:
            with os.scandir(remaining.pop()) as entries:
                for entry in entries:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        remaining.append(entry.path)
                    if files > most:
                        break
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # thousands of folders, one in another
                return most + 1, size
    return files, size


def held_open(process: int) -> int:
    """Return the bytes of files without a name that a process keeps by holding them open.

    Raises:
        PermissionError: if the process hides them.
    """
    size = 0
    folder = f"/proc/{process}/fd"
    for name in _listed(folder):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = os.stat(os.path.join(folder, name))
            if status.st_nlink == 0:
                size += status.st_blocks * 512
    return size


def held_mapped(process: int, folders: tuple[bytes, ...]) -> int:
    """Return the bytes of files without a name, once below `folders`, that a process has mapped.

    They need not be open any more.

    Raises:
        PermissionError: if the process hides them.
    """
    maps = b""
    gone = contextlib.suppress(FileNotFoundError, ProcessLookupError)
    with gone, open(f"/proc/{process}/maps", "rb") as file:
        maps = file.read()
    size = 0
    for line in maps.splitlines() if _DELETED in maps else ():
        place, *_, path = line.split(None, 5)
        if line.endswith(_DELETED) and path.startswith(folders):
            first, _, last = place.partition(b"-")
            size += int(last, 16) - int(first, 16)
    return size


def _listed(folder: str) -> list[str]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return os.listdir(folder)
    return []


def prune(folder: str, most: int, most_bytes: int) -> None:
    """Empty a folder of more files or bytes than these; what is needed of them is made again."""
    files, size = usage(folder, most, most_bytes)
    if files > most or size > most_bytes:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                os.unlink(path)  # of a folder this is refused
            remove_tree(path, limit_s=_REMOVAL_LIMIT_S)
