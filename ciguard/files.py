"""Files that others may have tampered with, and files that must never be half written."""

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

MAX_ELEMENTS = 4_000_000
"""Of a JSON document of others: some 400 MB in memory. Thousands of buckets have less than half."""


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
    with _open_regular(path, most=most) as stream:
        # In blocks: a buffer for all that is allowed would be made before anything is read.
        blocks = iter(partial(stream.read, _BLOCK_BYTES), b"")
        content = b"".join(islice(blocks, most // _BLOCK_BYTES + 1))
    if len(content) > most:  # it grows while it is read
        raise ValueError(_too_large(most))
    return _decoded(content)


def read_lines(path: Path, *, max_bytes: int, max_line: int) -> Iterator[str]:
    """Yield the lines of a regular file, each with its end; only one is in memory at a time.

    Args:
        path: the file; a symbolic link is refused.
        max_bytes: of the whole file.
        max_line: bytes of one line.

    Raises:
        OSError: if it cannot be opened, also because it is a symbolic link.
        ValueError: if file or line is larger than that, or it is not a regular file's UTF-8 text.
    """
    with _open_regular(path, most=max_bytes) as stream:
        left = max_bytes
        for number in count(1):
            line = stream.readline(max_line + 1)
            left -= len(line)
            if left < 0:
                raise ValueError(_too_large(max_bytes))
            if len(line) > max_line:
                msg = f"line {number} is longer than {max_line} bytes"
                raise ValueError(msg)
            if not line:
                return
            yield _decoded(line)


def parse_json(text: str, *, max_elements: int = MAX_ELEMENTS) -> Any:
    """Parse JSON that others have written.

    Args:
        text: a document; each element of it takes up to 50 times its length in memory.
        max_elements: how many elements it may have.

    Raises:
        ValueError: if it is no JSON of finite numbers, has more elements, or is nested too deeply.
    """
    if sum(map(text.count, ",[{")) > max_elements:
        msg = f"more than {max_elements} elements"
        raise ValueError(msg)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None


def _refuse_constant(name: str) -> None:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


@contextmanager
def _open_regular(path: Path, *, most: int) -> Iterator[BinaryIO]:
    # Without O_NONBLOCK a named pipe in the place of the file would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            msg = "not a regular file"
            raise ValueError(msg)
        if status.st_size > most:
            raise ValueError(_too_large(most))
        yield stream


def _too_large(most: int) -> str:
    return f"larger than {most} bytes"


def _decoded(content: bytes) -> str:
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
    write_pieces(path, (content,), durable=durable)


def write_pieces(path: Path, pieces: Iterable[str | bytes], *, durable: bool = False) -> None:
    """Write a file as `replace_file` does, of pieces that are never in memory all at once.

    Raises:
        OSError: if it cannot be written; the old content is still there.
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
