"""Quota of disk space and threads of a worker, as the kernel only limits the size of one file.

RLIMIT_NPROC counts all processes of a user, and does not apply to root. A separate file system
needs privileges. So the fork server checks its workers several times per second.
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
"""Maximum number of files and folders in a worker's folder."""
MAX_BYTES = 512 * 1024 * 1024
"""Maximum size of these files, and of deleted ones that are still open or mapped, in bytes."""
MAX_COMPILED, MAX_COMPILED_BYTES = 20_000, 1024 * 1024 * 1024
"""Maximum number and total size, in bytes, of the compiled files that workers share."""
MAX_THREADS = 1024
"""Maximum number of threads of a worker and its descendants."""
TICK_MS = 250
_GRACE_S = 3.0
_REMOVAL_LIMIT_S = 5.0
_DELETED = b" (deleted)"
TOO_MUCH_WRITTEN, TOO_MANY_THREADS = signal.SIGXFSZ, signal.SIGXCPU
"""Signals that end a worker, one for each exceeded quota; `decode` distinguishes them."""


class Quota:
    """Enforces the quota of one server's workers and their descendants."""

    def __init__(
        self, scratch: str, writable: Sequence[str], *, starts_processes: bool, can_see_files: bool
    ) -> None:
        """Prepare the quota.

        Args:
            scratch: folder of the workers' folders, which are named by process id.
            writable: folders that can contain deleted files that are still open.
            starts_processes: whether workers may start processes.
            can_see_files: whether the kernel lets this process see the open files of workers that
                do not hide on purpose.
        """
        self._scratch = scratch
        self._writable = folders_of(writable)
        self._starts_processes = starts_processes
        self._can_see_files = can_see_files
        self._due = 0.0
        self._warned: dict[int, float] = {}
        """Time of the first signal to each worker that exceeds the quota, by process id."""

    def enforce(self, workers: Iterable[int]) -> None:
        """End the workers that exceed the quota; check at most once per tick."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + TICK_MS / 1000
        all_processes = sorted(processes()) if self._starts_processes else []
        for worker in workers:
            exceeded = self._exceeded(worker, all_processes)
            if exceeded is not None:
                # The signal lets a running write finish; a worker that ignores it is killed.
                is_ignored = now - self._warned.setdefault(worker, now) > _GRACE_S
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL if is_ignored else exceeded)

    def forget(self, worker: int) -> None:
        """Forget a worker that has exited, as another may get its process id."""
        self._warned.pop(worker, None)

    def _exceeded(self, worker: int, all_processes: Sequence[Process]) -> signal.Signals | None:
        family = family_of(worker, all_processes)
        threads = sum(process.threads for process in family) if all_processes else _threads(worker)
        if threads > MAX_THREADS:
            return TOO_MANY_THREADS
        files, size = usage(os.path.join(self._scratch, str(worker)))
        members = [process.number for process in family] or [worker]
        size += sum(map(self._deleted_bytes, members))
        return TOO_MUCH_WRITTEN if files > MAX_FILES or size > MAX_BYTES else None

    def _deleted_bytes(self, process: int) -> int:
        """Return the size of the deleted files that a process still uses, in bytes."""
        try:
            return open_deleted_bytes(process) + mapped_deleted_bytes(process, self._writable)
        except PermissionError:
            return MAX_BYTES + 1 if self._can_see_files and _has_memory(process) else 0


def folders_of(writable: Sequence[str]) -> tuple[bytes, ...]:
    """Return the prefixes that the paths of files below these folders have in `/proc`."""
    return tuple(os.fsencode(os.path.realpath(path)) + b"/" for path in writable)


def family_of(worker: int, all_processes: Sequence[Process]) -> list[Process]:
    """Return a worker and its descendants, given all processes sorted by process id."""
    numbers, family = {worker}, []
    for process in all_processes:  # parents have lower process ids, until those wrap around
        if process.number in numbers or process.parent in numbers:
            numbers.add(process.number)
            family.append(process)
    return family


def _threads(worker: int) -> int:
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{worker}/task"))
    return 0


def _has_memory(process: int) -> bool:
    """Return whether a process is alive; an exiting process shows nothing either."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/statm", "rb") as file:
        return int(file.read().split()[0]) > 0
    return False


def usage(folder: str, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> tuple[int, int]:
    """Return the number and size of the files below a folder; stop counting above the limits."""
    files = size = 0
    remaining = [folder]
    while remaining and files <= max_files and size <= max_bytes:
        try:
            with os.scandir(remaining.pop()) as entries:
                for entry in entries:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        remaining.append(entry.path)
                    if files > max_files:
                        break
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # thousands of nested folders
                return max_files + 1, size
    return files, size


def open_deleted_bytes(process: int) -> int:
    """Return the size of the deleted files that a process has open, in bytes.

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


def mapped_deleted_bytes(process: int, folders: tuple[bytes, ...]) -> int:
    """Return the size of the deleted files below `folders` that a process has mapped, in bytes.

    They may be closed already.

    Raises:
        PermissionError: if the process hides them.
    """
    maps = b""
    gone = contextlib.suppress(FileNotFoundError, ProcessLookupError)
    with gone, open(f"/proc/{process}/maps", "rb") as file:
        maps = file.read()
    size = 0
    for line in maps.splitlines() if _DELETED in maps else ():
        addresses, *_, path = line.split(None, 5)
        if line.endswith(_DELETED) and path.startswith(folders):
            first, _, last = addresses.partition(b"-")
            size += int(last, 16) - int(first, 16)
    return size


def _listed(folder: str) -> list[str]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return os.listdir(folder)
    return []


def prune(folder: str, max_files: int, max_bytes: int) -> None:
    """Empty a folder that exceeds the limits; files that are needed are created again."""
    files, size = usage(folder, max_files, max_bytes)
    if files > max_files or size > max_bytes:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                os.unlink(path)  # fails for a folder
            remove_tree(path, limit_s=_REMOVAL_LIMIT_S)
