"""What a request holds, however its length is told; and that there is a limit."""

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
    made = Message()
    for name, value in pairs:
        made[name] = value
    return made


CHUNKED = headers(("Transfer-Encoding", "Chunked"))


def read(sent: bytes, told: Message) -> bytes:
    return read_body(told, io.BytesIO(sent), is_needed=True)


def chunk(part: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(part), part)


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=5), st.binary(max_size=9))
def test_chunks_are_read_as_far_as_they_go(parts: list[bytes], after: bytes) -> None:
    stream = io.BytesIO(b"".join(map(chunk, parts)) + b"0\r\n\r\n" + after)

    body = read_body(CHUNKED, stream, is_needed=True)

    assert body == b"".join(parts)
    assert stream.read() == after


def test_what_else_is_said_of_chunks_is_let_be() -> None:
    assert read(b"3;a=b\r\nabc\r\n0\r\nETag: x\r\n\r\n", CHUNKED) == b"abc"


@given(st.binary())
def test_any_chunks_are_read_or_refused(sent: bytes) -> None:
    with contextlib.suppress(ServiceError):
        assert len(read(sent, CHUNKED)) < len(sent)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", "does not begin with its size"),
        (b"x\r\n", "does not begin with its size"),
        (b"-1\r\n", "does not begin with its size"),
        (b"0x1\r\na\r\n", "does not begin with its size"),
        (b"1\na\n0\n\n", "does not begin with its size"),
        (b"1;" + b"a" * 2000 + b"\r\n", "does not begin with its size"),
        (b"fffffffff\r\n", "does not begin with its size"),
        (b"5\r\nab", "ends before it should"),
        (b"1\r\nab\r\n", "does not end where it says"),
        (b"0\r\n" + b"a: b\r\n" * 200, "too much follows the last chunk"),
        (b"1\r\na\r\n" * (1 << 18), "more than 262144 chunks"),
    ],
)
def test_chunks_that_are_none_are_refused(sent: bytes, said: str) -> None:
    with pytest.raises(ServiceError, match=said):
        read(sent, CHUNKED)


@pytest.mark.parametrize(
    "told",
    [
        headers(("Transfer-Encoding", "chunked"), ("Content-Length", "5")),
        headers(("Transfer-Encoding", "gzip, chunked")),
        headers(("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")),
        headers(("Transfer-Encoding", "identity")),
    ],
)
def test_two_ways_to_tell_a_length_are_refused(told: Message) -> None:
    with pytest.raises(ServiceError, match="is to be chunked, without a Content-Length"):
        read(b"0\r\n\r\n", told)


@pytest.mark.parametrize("length", ["", "x", "-1", "+1", "1 ", "1_0", "²", "9" * 30])
def test_lengths_that_are_none_are_refused(length: str) -> None:
    with pytest.raises(ServiceError, match="missing or no length"):
        read(b"", headers(("Content-Length", length)))


def test_several_lengths_or_none_or_too_long_a_one_are_refused() -> None:
    for told in (headers(), headers(("Content-Length", "1"), ("Content-Length", "1"))):
        with pytest.raises(ServiceError, match="missing or no length"):
            read(b"a", told)
    with pytest.raises(ServiceError, match="ends before it should"):
        read(b"a", headers(("Content-Length", "2")))
    assert read_body(headers(), io.BytesIO(b"a"), is_needed=False) == b""


@pytest.mark.parametrize("more", [0, 1])
def test_what_is_too_long_is_read_to_its_end_and_refused(more: int) -> None:
    content = bytes(MAX_BYTES + more)
    plain = io.BytesIO(content)
    chunks = io.BytesIO(chunk(content[:-1]) + chunk(content[-1:]) + b"0\r\n\r\n")
    length = headers(("Content-Length", str(len(content))))

    for stream, told in ((plain, length), (chunks, CHUNKED)):
        if more:
            with pytest.raises(ServiceError, match="exceeds the limit: 20971520 bytes"):
                read_body(told, stream, is_needed=True)
        else:
            assert read_body(told, stream, is_needed=True) == content
        assert stream.read() == b""


def test_what_is_far_too_long_is_not_read_to_its_end() -> None:
    chunks = io.BytesIO(chunk(bytes(2**20)) * 110)

    with pytest.raises(ServiceError, match="exceeds the limit"):
        read_body(CHUNKED, chunks, is_needed=True)

    assert len(chunks.read()) > 2**20


def test_what_is_compressed_is_read_and_refused() -> None:
    stream = io.BytesIO(b"abc")
    told = headers(("Content-Length", "3"), ("Content-Encoding", "gzip"))

    with pytest.raises(ServiceError, match="what is compressed is not read here"):
        read_body(told, stream, is_needed=True)

    assert stream.read() == b""
