"""The protocol between parent and worker: whatever a worker sends, only the protocol's error."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.execution.channel import Channel, Message, ProtocolError, ProtocolState
from ciguard.execution.worker.messages import DONE, FULL, GO_ON, HEADER, MESSAGE, STARTED

KINDS = st.sampled_from([DONE, FULL, STARTED, GO_ON, b"\0"])
ANNOUNCED = MESSAGE.pack(STARTED, 0, 0)


def begun(cases: int) -> ProtocolState:
    protocol = ProtocolState()
    protocol.receive(ANNOUNCED)
    protocol.begin(cases)
    return protocol


def test_a_batch_is_answered_with_its_token_and_its_records() -> None:
    protocol = begun(3)
    token = protocol.token

    assert protocol.receive(MESSAGE.pack(FULL, token, 1)) == Message(FULL, 1)
    assert protocol.receive(MESSAGE.pack(FULL, token, 2)) == Message(FULL, 2)
    assert protocol.receive(MESSAGE.pack(DONE, token, 3)) == Message(DONE, 3)


@given(st.lists(st.binary(max_size=40), max_size=6), st.integers(0, 5))
def test_arbitrary_bytes_complete_no_batch(received: list[bytes], cases: int) -> None:
    protocol = begun(cases)

    heard = []
    try:
        heard = [protocol.receive(part) for part in received]
    except ProtocolError:
        return

    assert not any(heard)  # a guess of 64 random bits


@given(st.lists(st.tuples(KINDS, st.integers(0, 6)), max_size=8), st.integers(0, 5))
def test_a_worker_that_knows_the_token_announces_each_record_at_most_once(
    sent: list[tuple[bytes, int]], cases: int
) -> None:
    protocol = begun(cases)
    token, heard = protocol.token, []

    for kind, records in sent:
        try:
            heard.append(protocol.receive(MESSAGE.pack(kind, token, records)))
        except ProtocolError:
            break

    counts = [message.records for message in heard if message is not None]
    assert counts == sorted(set(counts))
    assert all(count <= cases for count in counts)
    assert [m.kind for m in heard if m is not None and m.kind == DONE] in ([], [DONE])


@pytest.mark.parametrize(
    "early",
    [b"D", b"F", ANNOUNCED, MESSAGE.pack(DONE, 0, 1), MESSAGE.pack(DONE, 1, 1), b"D" * 50],
)
def test_an_answer_to_a_batch_that_was_not_sent_is_refused(early: bytes) -> None:
    protocol = ProtocolState()
    protocol.receive(ANNOUNCED)

    with pytest.raises(ProtocolError):
        protocol.receive(early + MESSAGE.pack(DONE, 0, 0))


def test_an_answer_to_the_previous_batch_is_refused() -> None:
    protocol = begun(1)
    old = MESSAGE.pack(DONE, protocol.token, 1)
    protocol.receive(old)
    protocol.begin(1)

    with pytest.raises(ProtocolError):
        protocol.receive(old)


def test_a_worker_that_does_not_read_never_blocks_the_channel() -> None:
    ours, theirs = socket.socketpair()
    waits: list[bool] = []
    with ours, theirs:
        channel = Channel(ours, on_wait=lambda _, is_waiting: waits.append(is_waiting))
        cases = [b"1" * 1_000_000] * 4

        token = channel.send_batch(cases)

        assert waits == [True]
        received = b""
        theirs.settimeout(0)
        while waits != [True, False]:
            received += theirs.recv(1 << 20)
            channel.flush()
        theirs.settimeout(10)
        length, sent_token = HEADER.unpack_from(received)
        while len(received) < HEADER.size + length:
            received += theirs.recv(1 << 20)
        assert sent_token == token
        assert received[HEADER.size :] == b"[" + b",".join(cases) + b"]"


def test_a_connection_that_is_closed_is_over() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours, on_wait=lambda *_: None)
    theirs.close()

    assert channel.receive() is None
    assert channel.is_over
    channel.send_batch([b"1"])  # the server reports the exit
    channel.close()
