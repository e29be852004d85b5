"""Reads the bodies of HTTP requests up to a limit, by their Content-Length or in chunks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.reading import invalid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message
    from io import BufferedIOBase

MAX_BYTES = 20 * 2**20
"""Maximum size of a request body; larger bodies are refused."""
_MAX_DRAINED = 5 * MAX_BYTES
"""Maximum number of bytes that are read from a refused body.

They are read because a client that is still sending does not read the reply.
"""
_MAX_CHUNKS = 1 << 18
_READ_BYTES = 1 << 16
_MAX_LINE_LENGTH = 1 << 10
"""Maximum length of a chunk header with its extensions, or of a trailer."""
_MAX_TRAILERS = 100
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")
_LENGTH = re.compile(r"[0-9]{1,9}")


def read_body(headers: Message, stream: BufferedIOBase, *, is_needed: bool) -> bytes:
    """Return the body of a request.

    Args:
        headers: headers of the request.
        stream: stream of the connection, after the headers.
        is_needed: True if the request has to state its length, even a length of 0.

    Raises:
        ServiceError: if the length is missing, or the body is too large, compressed or incomplete.
            The connection cannot be used afterwards.
    """
    lengths, codings = (headers.get_all(key, []) for key in ("Content-Length", "Transfer-Encoding"))
    if not lengths and not codings and not is_needed:
        return b""
    if codings:
        parts = _read_chunks(stream, codings, lengths)
    else:
        length = lengths[0] if len(lengths) == 1 else ""
        if _LENGTH.fullmatch(length) is None:
            msg = "Content-Length is missing or invalid. Send a valid length, or a chunked body."
            raise invalid(msg)
        parts = _read_parts(stream, int(length))
    is_plain = headers.get("Content-Encoding", "identity").lower() in {"", "identity"}
    body = _join_parts(parts)
    if not is_plain:
        msg = "Content-Encoding: compressed bodies are not supported. Send the body uncompressed."
        raise invalid(msg)
    return body


def _join_parts(parts: Iterator[bytes]) -> bytes:
    """Return the joined parts of a body; if they are too large, the rest is read and discarded."""
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


def _read_parts(stream: BufferedIOBase, length: int) -> Iterator[bytes]:
    """Yield the next `length` bytes of a stream in parts."""
    while length > 0:
        part = stream.read(min(length, _READ_BYTES))
        if not part:
            msg = "The request body is incomplete."
            raise invalid(msg)
        length -= len(part)
        yield part


def _read_chunks(stream: BufferedIOBase, codings: list[str], lengths: list[str]) -> Iterator[bytes]:
    """Yield the content of a chunked body in parts."""
    if lengths or [coding.strip().lower() for coding in codings] != ["chunked"]:
        msg = "Transfer-Encoding has to be `chunked`, and the header Content-Length absent."
        raise invalid(msg)
    for _ in range(_MAX_CHUNKS):
        size = _SIZE.fullmatch(stream.readline(_MAX_LINE_LENGTH))
        if size is None:
            msg = "Transfer-Encoding: a chunk has no valid size."
            raise invalid(msg)
        length = int(size[1], 16)
        if length == 0:
            _read_trailers(stream)
            return
        yield from _read_parts(stream, length)
        if stream.read(2) != b"\r\n":
            msg = "Transfer-Encoding: a chunk is longer than the size before it."
            raise invalid(msg)
    msg = f"Transfer-Encoding: the body has more than {_MAX_CHUNKS} chunks."
    raise invalid(msg)


def _read_trailers(stream: BufferedIOBase) -> None:
    """Read the trailers after the last chunk, and the final empty line."""
    for _ in range(_MAX_TRAILERS):
        if stream.readline(_MAX_LINE_LENGTH) in {b"\r\n", b""}:
            return
    msg = f"Transfer-Encoding: the body has more than {_MAX_TRAILERS} trailers."
    raise invalid(msg)
