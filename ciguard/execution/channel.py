"""The parent's end of a worker's connection, which never blocks and validates every byte.

A worker first reports that it has started. Then it answers each batch with the batch's random token
and the number of records so far. Anything else violates the protocol.
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
    """A worker violated the protocol."""


@dataclass(frozen=True, slots=True)
class Message:
    """One report of a worker."""

    kind: bytes
    """Kind of the report: STARTED, FULL or DONE."""
    records: int
    """Number of records of the batch so far."""


class ProtocolState:
    """State machine of the worker's side of the protocol. Does no I/O."""

    def __init__(self) -> None:
        self.token = 0
        """Token of the current batch; 0 for none."""
        self.cases = 0
        """Number of cases in the current batch."""
        self.records = 0
        """Number of records that the worker announced for the current batch."""
        self._is_started = False
        self._received = bytearray()

    def begin(self, cases: int) -> int:
        """Begin a batch with this number of cases, and return its token."""
        self.token = 1 + secrets.randbits(_TOKEN_BITS - 1)
        self.cases, self.records = cases, 0
        return self.token

    def receive(self, received: bytes) -> Message | None:
        """Return the message that these bytes complete; None while it is incomplete.

        Raises:
            ProtocolError: if the bytes violate the protocol.
        """
        self._received += received
        if len(self._received) < MESSAGE.size:
            return None
        if len(self._received) > MESSAGE.size:
            msg = "sent more than one message at a time"
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
            msg = "answered a batch that was not sent to it"
            raise ProtocolError(msg)
        # A worker reports a full cell because its next record does not fit: one more follows.
        is_possible = self.records < records < self.cases if kind == FULL else records == self.cases
        if not is_possible:
            msg = f"announced {records} records of {self.cases} after {self.records}"
            raise ProtocolError(msg)
        self.records = records
        if kind == DONE:
            self.token = 0


class Channel:
    """A worker's connection and the state of its protocol."""

    def __init__(
        self, connection: socket.socket, *, on_wait: Callable[[socket.socket, bool], object]
    ) -> None:
        """Take ownership of a connection.

        Args:
            connection: socket connected to the worker.
            on_wait: called with the connection, and True while data waits until the worker can
                receive more.
        """
        connection.setblocking(False)  # noqa: FBT003 - the interface of sockets
        self.connection = connection
        self._on_wait = on_wait
        self._outgoing = b""
        self._is_waiting = False
        self.protocol = ProtocolState()
        self.is_over = False
        """True once the worker has closed its end."""

    def receive(self) -> Message | None:
        """Return the next message; None while it is incomplete, and at the end of the stream.

        Raises:
            ProtocolError: if the worker violated the protocol.
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
        return self.protocol.receive(received)

    def send_batch(self, cases: Sequence[bytes]) -> int:
        """Send a batch of cases and return its token."""
        token = self.protocol.begin(len(cases))
        body = b"[" + b",".join(cases) + b"]"
        self._send(HEADER.pack(len(body), token) + body)
        return token

    def resume(self) -> None:
        """Let a worker continue that has reported a full cell."""
        self._send(GO_ON)

    def _send(self, message: bytes) -> None:
        self._outgoing += message
        self.flush()

    def flush(self) -> None:
        """Send as much as the worker can receive now."""
        try:
            while self._outgoing:
                sent = self.connection.send(self._outgoing)
                self._outgoing = self._outgoing[sent:]
        except BlockingIOError:
            pass
        except ConnectionError:
            self._outgoing = b""  # the worker exited: the server reports that
        if bool(self._outgoing) != self._is_waiting:
            self._is_waiting = bool(self._outgoing)
            self._on_wait(self.connection, self._is_waiting)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
