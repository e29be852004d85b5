"""Request bodies: lengths, chunks and limits."""

from __future__ import annotations

import contextlib
import io
from email.message import Message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.emulation.bodies import MAX_BYTES, read_body
from ciguard.levels.app.providers.codes import ServiceError


def headers(*pairs: tuple[str, str]) -> Message:
    message = Message()
    for name, value in pairs:
        message[name] = value
    return message


CHUNKED = headers(("Transfer-Encoding", "Chunked"))


def read(sent: bytes, request_headers: Message) -> bytes:
    return read_body(request_headers, io.BytesIO(sent), is_needed=True)


def chunk(part: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(part), part)


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=5), st.binary(max_size=9))
def test_chunked_body_is_read_to_its_end(parts: list[bytes], after: bytes) -> None:
    stream = io.BytesIO(b"".join(map(chunk, parts)) + b"0\r\n\r\n" + after)

    body = read_body(CHUNKED, stream, is_needed=True)

    assert body == b"".join(parts)
    assert stream.read() == after


def test_chunk_extensions_and_trailers_are_ignored() -> None:
    assert read(b"3;a=b\r\nabc\r\n0\r\nETag: x\r\n\r\n", CHUNKED) == b"abc"


@given(st.binary())
def test_any_chunks_are_read_or_refused(sent: bytes) -> None:
    with contextlib.suppress(ServiceError):
        assert len(read(sent, CHUNKED)) < len(sent)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"", "has no valid size"),
        (b"x\r\n", "has no valid size"),
        (b"-1\r\n", "has no valid size"),
        (b"0x1\r\na\r\n", "has no valid size"),
        (b"1\na\n0\n\n", "has no valid size"),
        (b"1;" + b"a" * 2000 + b"\r\n", "has no valid size"),
        (b"fffffffff\r\n", "has no valid size"),
        (b"5\r\nab", "is incomplete"),
        (b"1\r\nab\r\n", "is longer than the size before it"),
        (b"0\r\n" + b"a: b\r\n" * 200, "more than 100 trailers"),
        (b"1\r\na\r\n" * (1 << 18), "more than 262144 chunks"),
    ],
)
def test_invalid_chunks_are_refused(sent: bytes, message: str) -> None:
    with pytest.raises(ServiceError, match=message):
        read(sent, CHUNKED)


@pytest.mark.parametrize(
    "request_headers",
    [
        headers(("Transfer-Encoding", "chunked"), ("Content-Length", "5")),
        headers(("Transfer-Encoding", "gzip, chunked")),
        headers(("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")),
        headers(("Transfer-Encoding", "identity")),
    ],
)
def test_chunked_body_with_content_length_is_refused(request_headers: Message) -> None:
    with pytest.raises(ServiceError, match="and the header Content-Length absent"):
        read(b"0\r\n\r\n", request_headers)


@pytest.mark.parametrize("length", ["", "x", "-1", "+1", "1 ", "1_0", "²", "9" * 30])
def test_invalid_content_length_is_refused(length: str) -> None:
    with pytest.raises(ServiceError, match="missing or invalid"):
        read(b"", headers(("Content-Length", length)))


def test_missing_repeated_or_too_large_content_length_is_refused() -> None:
    for request_headers in (headers(), headers(("Content-Length", "1"), ("Content-Length", "1"))):
        with pytest.raises(ServiceError, match="missing or invalid"):
            read(b"a", request_headers)
    with pytest.raises(ServiceError, match="is incomplete"):
        read(b"a", headers(("Content-Length", "2")))
    assert read_body(headers(), io.BytesIO(b"a"), is_needed=False) == b""


@pytest.mark.parametrize("more", [0, 1])
def test_too_large_body_is_drained_and_refused(more: int) -> None:
    content = bytes(MAX_BYTES + more)
    plain = io.BytesIO(content)
    chunks = io.BytesIO(chunk(content[:-1]) + chunk(content[-1:]) + b"0\r\n\r\n")
    length = headers(("Content-Length", str(len(content))))

    for stream, request_headers in ((plain, length), (chunks, CHUNKED)):
        if more:
            with pytest.raises(ServiceError, match="exceeds the limit: 20971520 bytes"):
                read_body(request_headers, stream, is_needed=True)
        else:
            assert read_body(request_headers, stream, is_needed=True) == content
        assert stream.read() == b""


def test_far_too_large_body_is_not_drained() -> None:
    chunks = io.BytesIO(chunk(bytes(2**20)) * 110)

    with pytest.raises(ServiceError, match="exceeds the limit"):
        read_body(CHUNKED, chunks, is_needed=True)

    assert len(chunks.read()) > 2**20


def test_compressed_body_is_refused() -> None:
    stream = io.BytesIO(b"abc")
    request_headers = headers(("Content-Length", "3"), ("Content-Encoding", "gzip"))

    with pytest.raises(ServiceError, match="compressed bodies are not supported"):
        read_body(request_headers, stream, is_needed=True)

    assert stream.read() == b""
