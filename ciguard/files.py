"""Files that others may have tampered with, and files that must never be half written."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import TypeAlias

Stamp: TypeAlias = tuple[int, int, int]


def stamp(path: Path) -> Stamp:
    """Return what changes when a file is replaced or written; a link is not followed.

    Raises:
        OSError: if there is no such file.
    """
    status = path.lstat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def read_text(path: Path, *, most: int) -> str:
    """Return the text of a regular file of at most `most` bytes.

    Raises:
        OSError: if it cannot be opened, also because it is a symbolic link.
        ValueError: if it is larger than that, not a regular file's UTF-8 text.
    """
    # Without O_NONBLOCK a named pipe in the place of the file would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            msg = "not a regular file"
            raise ValueError(msg)
        content = stream.read(most + 1) if status.st_size <= most else b""
    if max(status.st_size, len(content)) > most:
        msg = f"larger than {most} bytes"
        raise ValueError(msg)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"not UTF-8 text (byte {error.start})"
        raise ValueError(msg) from error


def replace_file(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    Args:
        path: file in an existing folder.
        content: the new content; a text is written as UTF-8.
        durable: whether it must survive a loss of power as well.

    Raises:
        OSError: if it cannot be written; the old content is still there.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        temporary.chmod(0o644)  # mkstemp's is for the owner only
        temporary.replace(path)
    except BaseException:  # an interruption too leaves no half of a file behind
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
