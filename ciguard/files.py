"""Reading of untrusted files, and atomic writing of files."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLOCK_BYTES = 1 << 20
Stamp: TypeAlias = tuple[int, int, int]
"""Inode, time of modification in nanoseconds, and size of a file."""

MAX_ELEMENTS = 4_000_000
"""Maximum number of elements in untrusted JSON, about 400 MB in memory."""


def file_stamp(path: Path) -> Stamp:
    """Return the stamp of a file, which changes with its content; links are not followed.

    Raises:
        OSError: if the file does not exist.
    """
    status = path.lstat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def read_text(path: Path, *, most: int) -> str:
    """Return the text of a regular file of at most `most` bytes.

    Raises:
        OSError: if it cannot be opened, for example because it is a symbolic link.
        ValueError: if it is larger, not a regular file, or not UTF-8 text.
    """
    with _open_regular(path, most=most) as stream:
        # In blocks, because `read(most)` would allocate a buffer of that size first.
        blocks = iter(partial(stream.read, _BLOCK_BYTES), b"")
        content = b"".join(islice(blocks, most // _BLOCK_BYTES + 1))
    if len(content) > most:  # the file grew during the read
        raise ValueError(_too_large(most))
    return _decoded(content)


def read_lines(path: Path, *, max_bytes: int, max_line: int) -> Iterator[str]:
    """Yield the lines of a regular file with their line ends, one in memory at a time.

    Args:
        path: path of the file, which must not be a symbolic link.
        max_bytes: maximum size of the file in bytes.
        max_line: maximum length of a line in bytes.

    Raises:
        OSError: if it cannot be opened, for example because it is a symbolic link.
        ValueError: if file or line is larger, or it is not a regular file of UTF-8 text.
    """
    with _open_regular(path, most=max_bytes) as stream:
        remaining = max_bytes
        for number in count(1):
            line = stream.readline(max_line + 1)
            remaining -= len(line)
            if remaining < 0:
                raise ValueError(_too_large(max_bytes))
            if len(line) > max_line:
                msg = f"line {number} exceeds {max_line} bytes"
                raise ValueError(msg)
            if not line:
                return
            yield _decoded(line)


def parse_json(text: str, *, max_elements: int = MAX_ELEMENTS) -> Any:
    """Parse untrusted JSON.

    Args:
        text: the document; an element may need 50 times its length in memory.
        max_elements: maximum number of elements in the document.

    Raises:
        ValueError: if it is not JSON with finite numbers, has more elements, or is nested too
            deeply.
    """
    if sum(map(text.count, ",[{")) > max_elements:
        msg = f"the JSON document has more than {max_elements} elements"
        raise ValueError(msg)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        msg = "the JSON document is nested too deeply"
        raise ValueError(msg) from None


def _refuse_constant(name: str) -> None:
    msg = f"{name} is not valid in JSON"
    raise ValueError(msg)


@contextmanager
def _open_regular(path: Path, *, most: int) -> Iterator[BinaryIO]:
    # Without O_NONBLOCK, opening a named pipe would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            msg = "the path is not a regular file"
            raise ValueError(msg)
        if status.st_size > most:
            raise ValueError(_too_large(most))
        yield stream


def _too_large(most: int) -> str:
    return f"the file is larger than {most} bytes"


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"the file is not UTF-8 text (byte {error.start})"
        raise ValueError(msg) from error


def replace_file(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Replace a file atomically: readers see the old or the new content.

    Args:
        path: path in an existing folder.
        content: the new content; strings are written as UTF-8.
        durable: whether the content must survive a loss of power.

    Raises:
        OSError: if it cannot be written; the old content is unchanged.
    """
    write_pieces(path, (content,), durable=durable)


def write_pieces(path: Path, pieces: Iterable[str | bytes], *, durable: bool = False) -> None:
    """Replace a file like `replace_file`, from pieces that are not all in memory at once.

    Raises:
        OSError: if it cannot be written; the old content is unchanged.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            for piece in pieces:
                stream.write(piece.encode() if isinstance(piece, str) else piece)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        temporary.chmod(0o644)  # mkstemp permits only the owner
        temporary.replace(path)
    except BaseException:  # also after an interruption, leave no partial file
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
