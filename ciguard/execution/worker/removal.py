"""Removal of folders that hostile code has filled, even if they are very deep or unreadable.

Recursion fails for thousands of nested folders, as does one open descriptor per level, and the
kernel refuses such long paths. So subfolders are moved up next to their parent before it is
removed, and every name is relative to an open folder. Links are never followed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from typing import Iterator

REMOVAL_LIMIT_S = 20.0
"""Time limit for one folder, as a process may add files as fast as they are removed."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_ALL_OF_OWNER = 0o700
_MAX_PASSES = 3


def remove_tree(path: str, *, limit_s: float = REMOVAL_LIMIT_S) -> bool:
    """Remove a folder and its content. Never raise.

    Args:
        path: path of the folder; links and other files are ignored.
        limit_s: seconds after which the rest is left.

    Returns:
        True if the folder is gone.
    """
    deadline = time.monotonic() + limit_s
    above, name = os.path.split(os.path.abspath(path))
    for _ in range(_MAX_PASSES):  # a process may still write into it
        try:
            _remove(above, name, deadline)
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
            continue
        return True
    return False


def _remove(above: str, name: str, deadline: float) -> None:
    parent = os.open(above, _FOLDER)
    try:
        with _opened(name, parent) as top:
            _empty(top, deadline)
        os.rmdir(name, dir_fd=parent)
    finally:
        os.close(parent)


def _empty(top: int, deadline: float) -> None:
    """Remove as much of the content of an open folder as possible."""
    waiting = [entry for entry in os.listdir(top) if _is_folder(entry, top)]
    names = map(f".removed-{os.urandom(8).hex()}-{{}}".format, itertools.count())
    while waiting and time.monotonic() < deadline:
        folder = waiting.pop()
        with contextlib.suppress(OSError):
            waiting += _flattened_subfolders(folder, top, names, deadline)
            os.rmdir(folder, dir_fd=top)


def _flattened_subfolders(
    folder: str, top: int, names: Iterator[str], deadline: float
) -> list[str]:
    """Remove a folder's files, move its subfolders next to it, and return their new names."""
    new_names: list[str] = []
    with _opened(folder, top) as inner:
        for entry in os.listdir(inner):
            if time.monotonic() > deadline:
                break
            if not _is_folder(entry, inner):
                continue
            new_name = next(names)
            with contextlib.suppress(OSError):
                _make_accessible(entry, inner)  # moving a folder changes its entry `..`
                os.rename(entry, new_name, src_dir_fd=inner, dst_dir_fd=top)
                new_names.append(new_name)
    return new_names


def _is_folder(entry: str, folder: int) -> bool:
    """Return whether an entry is a folder; remove it if it is not."""
    with contextlib.suppress(OSError):  # gone already, or it cannot be removed
        if stat.S_ISDIR(os.lstat(entry, dir_fd=folder).st_mode):
            return True
        os.unlink(entry, dir_fd=folder)
    return False


@contextlib.contextmanager
def _opened(name: str, parent: int) -> Iterator[int]:
    _make_accessible(name, parent)
    descriptor = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _make_accessible(name: str, parent: int) -> None:
    """Give the owner all rights to a folder, without following a link."""
    descriptor = os.open(name, os.O_PATH | _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    try:
        if os.fstat(descriptor).st_mode & _ALL_OF_OWNER != _ALL_OF_OWNER:
            os.chmod(f"/proc/self/fd/{descriptor}", _ALL_OF_OWNER)
    finally:
        os.close(descriptor)
