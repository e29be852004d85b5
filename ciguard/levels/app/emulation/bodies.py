"""Reads what a request holds, up to a limit: a length that is told, or chunks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.reading import invalid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message
    from io import BufferedIOBase

MAX_BYTES = 20 * 2**20
"""Of a request; what is longer is refused."""
_MAX_DRAINED = 5 * MAX_BYTES
"""Of a request that is refused: who is still writing does not hear an answer."""
_MAX_CHUNKS = 1 << 18
_STEP = 1 << 16
_MAX_LINE_LENGTH = 1 << 10
"""Of the size of a chunk, with whatever else is said of it; and of what follows the last."""
_MAX_TRAILERS = 100
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")
_LENGTH = re.compile(r"[0-9]{1,9}")


def read_body(headers: Message, stream: BufferedIOBase, *, is_needed: bool) -> bytes:
    """Return what a request holds.

    Args:
        headers: of the request.
        stream: after them.
        is_needed: whether it is to say how much that is, even if it is nothing.

    Raises:
        ServiceError: if it does not say, it is too much, compressed, or ends early. The connection
            cannot be used any more then.
    """
    lengths, codings = (headers.get_all(key, []) for key in ("Content-Length", "Transfer-Encoding"))
    if not lengths and not codings and not is_needed:
        return b""
    if codings:
        parts = _chunks(stream, codings, lengths)
    else:
        length = lengths[0] if len(lengths) == 1 else ""
        if _LENGTH.fullmatch(length) is None:
            msg = "Content-Length is missing or no length, and what is sent is not in chunks."
            raise invalid(msg)
        parts = _parts(stream, int(length))
    is_plain = headers.get("Content-Encoding", "identity").lower() in {"", "identity"}
    body = _joined(parts)
    if not is_plain:
        msg = "Content-Encoding: what is compressed is not read here."
        raise invalid(msg)
    return body


def _joined(parts: Iterator[bytes]) -> bytes:
    """Return parts as one; those of too many are read all the same, and forgotten."""
    body, length = bytearray(), 0
    for part in parts:
        length += len(part)
        if length <= MAX_BYTES:
            body += part
        elif length > _MAX_DRAINED:
            break
    if length > MAX_BYTES:
        msg = f"Request payload size exceeds the limit: {MAX_BYTES} bytes."
        raise invalid(msg)
    return bytes(body)


def _parts(stream: BufferedIOBase, length: int) -> Iterator[bytes]:
    while length > 0:
        part = stream.read(min(length, _STEP))
        if not part:
            msg = "The request ends before it should."
            raise invalid(msg)
        length -= len(part)
        yield part


def _chunks(stream: BufferedIOBase, codings: list[str], lengths: list[str]) -> Iterator[bytes]:
    if lengths or [one.strip().lower() for one in codings] != ["chunked"]:
        msg = "Transfer-Encoding: is to be chunked, without a Content-Length."
        raise invalid(msg)
    for _ in range(_MAX_CHUNKS):
        size = _SIZE.fullmatch(stream.readline(_MAX_LINE_LENGTH))
        if size is None:
            msg = "Transfer-Encoding: a chunk does not begin with its size."
            raise invalid(msg)
        length = int(size[1], 16)
        if length == 0:
            _end(stream)
            return
        yield from _parts(stream, length)
        if stream.read(2) != b"\r\n":
            msg = "Transfer-Encoding: a chunk does not end where it says."
            raise invalid(msg)
    msg = f"Transfer-Encoding: more than {_MAX_CHUNKS} chunks."
    raise invalid(msg)


def _end(stream: BufferedIOBase) -> None:
    """Read what follows the last chunk, and the line that ends it."""
    for _ in range(_MAX_TRAILERS):
        if stream.readline(_MAX_LINE_LENGTH) in {b"\r\n", b""}:
            return
    msg = "Transfer-Encoding: too much follows the last chunk."
    raise invalid(msg)
