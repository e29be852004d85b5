"""The parent's end of a worker's connection: it never blocks, and believes no byte.

A worker speaks in turn: it announces itself, then answers each batch with the batch's own random
token and the number of its records so far. Anything else breaks the protocol.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.execution.worker.messages import DONE, FULL, GO_ON, HEADER, MESSAGE, STARTED

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

_MAX_READ = 4 * MESSAGE.size
_TOKEN_BITS = 64


class ProtocolError(Exception):
    """A worker sent what no healthy worker sends."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a worker reports."""

    kind: bytes
    """STARTED, FULL or DONE."""
    records: int
    """Records of the batch so far."""


class Conversation:
    """The worker's part of the protocol, byte by byte. Does no I/O."""

    def __init__(self) -> None:
        self.token = 0
        """Of the batch that is under way; 0 for none."""
        self.cases = 0
        """Cases in that batch."""
        self.records = 0
        """Records that were announced since the batch began."""
        self._is_started = False
        self._received = bytearray()

    def begin(self, cases: int) -> int:
        """Begin a batch of so many cases and return its token."""
        self.token = 1 + secrets.randbits(_TOKEN_BITS - 1)
        self.cases, self.records = cases, 0
        return self.token

    def hear(self, received: bytes) -> Message | None:
        """Take what was received; return the message that it completes.

        Raises:
            ProtocolError: if a healthy worker would have sent something else, or nothing yet.
        """
        self._received += received
        if len(self._received) < MESSAGE.size:
            return None
        if len(self._received) > MESSAGE.size:
            msg = "spoke out of turn"
            raise ProtocolError(msg)
        kind, token, records = MESSAGE.unpack(self._received)
        self._received.clear()
        if kind == STARTED and not self._is_started and (token, records) == (0, 0):
            self._is_started = True
        elif kind in {FULL, DONE}:
            self._check(kind, token, records)
        else:
            msg = f"sent a message of kind {kind!r}"
            raise ProtocolError(msg)
        return Message(kind, records)

    def _check(self, kind: bytes, token: int, records: int) -> None:
        if not self.token or token != self.token:
            msg = "answered a batch that it was not given"
            raise ProtocolError(msg)
        # A full cell is reported with a record in hand that had no room: there is always one more.
        is_possible = self.records < records < self.cases if kind == FULL else records == self.cases
        if not is_possible:
            msg = f"announced {records} records of {self.cases} after {self.records}"
            raise ProtocolError(msg)
        self.records = records
        if kind == DONE:
            self.token = 0


class Channel:
    """A worker's connection and what was agreed over it."""

    def __init__(
        self, connection: socket.socket, *, on_wait: Callable[[socket.socket, bool], object]
    ) -> None:
        """Take over a connection.

        Args:
            connection: to the worker.
            on_wait: called with the connection and whether there is something to send that the
                worker has no room for yet.
        """
        connection.setblocking(False)  # noqa: FBT003 - the interface of sockets
        self.connection = connection
        self._on_wait = on_wait
        self._outgoing = b""
        self._is_waiting = False
        self.conversation = Conversation()
        self.is_over = False
        """Whether the worker's end is closed."""

    def receive(self) -> Message | None:
        """Return the next message, None while it is incomplete and at the end.

        Raises:
            ProtocolError: see `Conversation.hear`.
        """
        try:
            received = self.connection.recv(_MAX_READ)
        except BlockingIOError:
            return None
        except ConnectionError:
            received = b""
        if not received:
            self.is_over = True
            return None
        return self.conversation.hear(received)

    def send_batch(self, cases: Sequence[bytes]) -> int:
        """Send cases and return their batch's token."""
        token = self.conversation.begin(len(cases))
        body = b"[" + b",".join(cases) + b"]"
        self._send(HEADER.pack(len(body), token) + body)
        return token

    def go_on(self) -> None:
        """Let a worker go on that has reported a full cell."""
        self._send(GO_ON)

    def _send(self, message: bytes) -> None:
        self._outgoing += message
        self.flush()

    def flush(self) -> None:
        """Send what the worker has room for."""
        try:
            while self._outgoing:
                sent = self.connection.send(self._outgoing)
                self._outgoing = self._outgoing[sent:]
        except BlockingIOError:
            pass
        except ConnectionError:
            self._outgoing = b""  # it is dead: the server reports that
        if bool(self._outgoing) != self._is_waiting:
            self._is_waiting = bool(self._outgoing)
            self._on_wait(self.connection, self._is_waiting)

    def close(self) -> None:
        """Hang up."""
        self.connection.close()
