"""Removal of folders that hostile code has filled: however deep, unreadable or full of links.

Neither recursion nor one open folder per level bears thousands of nested folders, and a path of
that length is refused by the kernel. So a folder's subfolders are moved up beside it before it is
removed itself, and every name is relative to an open folder. Links are never followed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from typing import Iterator

REMOVAL_LIMIT_S = 20.0
"""Time for one folder: who still writes into it may add files as fast as they are removed."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_ALL_OF_OWNER = 0o700
_MAX_PASSES = 3


def remove_tree(path: str, *, limit_s: float = REMOVAL_LIMIT_S) -> bool:
    """Remove a folder with all that is in it. Never raise.

    Args:
        path: of the folder; a link, or anything else that is no folder, is left alone.
        limit_s: time after which the rest is left behind.

    Returns:
        Whether the folder is gone.
    """
    deadline = time.monotonic() + limit_s
    above, name = os.path.split(os.path.abspath(path))
    for _ in range(_MAX_PASSES):  # somebody may write into it meanwhile
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
    """Remove all that is in an open folder, as far as that is possible."""
    waiting = [entry for entry in os.listdir(top) if _is_folder(entry, top)]
    names = map(f".removed-{os.urandom(8).hex()}-{{}}".format, itertools.count())
    while waiting and time.monotonic() < deadline:
        folder = waiting.pop()
        with contextlib.suppress(OSError):
            waiting += _raised_subfolders(folder, top, names, deadline)
            os.rmdir(folder, dir_fd=top)


def _raised_subfolders(folder: str, top: int, names: Iterator[str], deadline: float) -> list[str]:
    """Remove a folder's files, move its folders up beside it and return their new names."""
    raised: list[str] = []
    with _opened(folder, top) as inner:
        for entry in os.listdir(inner):
            if time.monotonic() > deadline:
                break
            if not _is_folder(entry, inner):
                continue
            moved = next(names)
            with contextlib.suppress(OSError):
                _make_accessible(entry, inner)  # its entry `..` changes, which needs permission
                os.rename(entry, moved, src_dir_fd=inner, dst_dir_fd=top)
                raised.append(moved)
    return raised


def _is_folder(entry: str, folder: int) -> bool:
    """Return whether an entry is a folder; anything else is removed."""
    with contextlib.suppress(OSError):  # gone already, or kept: then the folder itself stays
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
    """Give a folder, and nothing that a link leads to, all rights of its owner."""
    descriptor = os.open(name, os.O_PATH | _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    try:
        if os.fstat(descriptor).st_mode & _ALL_OF_OWNER != _ALL_OF_OWNER:
            os.chmod(f"/proc/self/fd/{descriptor}", _ALL_OF_OWNER)
    finally:
        os.close(descriptor)
