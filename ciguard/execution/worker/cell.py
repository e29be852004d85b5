"""The shared-memory cell between a worker and its parent.

The worker writes where it is and what came of each case; the parent reads it when the worker
reports, and also when the worker is dead. Nothing that reached the cell is ever lost.

Layout, little-endian:

    0   u64  number of the running case within its batch, from 1; 0 when idle
    8   u64  when that case began, CLOCK_MONOTONIC ns
    16  u64  bytes of records in the cell
    24  u64  records in the cell
    32  u64  token of the batch, see `messages`
    64  …    records: u32 number of the case within the batch, from 1, u32 length of the payload,
             u8 status, u32 cost in µs, payload

When the cell is full and was read, records begin at its start again; their numbers go on.

The worker is untrusted: the parent checks every number it reads.
"""

from __future__ import annotations

import mmap
import struct

SIZE = 4 * 1024 * 1024
RECORDS_AT = 64
_PROGRESS = struct.Struct("<QQ")
_WRITTEN = struct.Struct("<QQ")
_TOKEN = struct.Struct("<Q")
_TOKEN_AT = 32
_RECORD = struct.Struct("<IIBI")
ROOM = SIZE - RECORDS_AT - _RECORD.size
"""Longest payload that one record can hold."""

PASSED = ord("P")
REJECTED = ord("R")
UNBUILT = ord("B")
ERRORED = ord("E")
EXHAUSTED = ord("X")
INEXPRESSIBLE = ord("I")
STATUSES = frozenset((PASSED, REJECTED, UNBUILT, ERRORED, EXHAUSTED, INEXPRESSIBLE))

Record = tuple[int, int, bytes]
"""Status, cost in µs, payload."""


class CorruptCellError(Exception):
    """The worker's memory was overwritten by the code under test."""


class CellWriter:
    """The worker's end."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)
        self._at = 0
        self._count = 0
        self.records = 0
        """Records of the batch."""

    def begin_batch(self, token: int) -> None:
        """Forget the records of the batch before."""
        self.records = 0
        self.begin_page()
        _TOKEN.pack_into(self._memory, _TOKEN_AT, token)

    def begin_page(self) -> None:
        """Forget the records that were read."""
        self._at = self._count = 0
        _WRITTEN.pack_into(self._memory, 16, 0, 0)

    def begin_case(self, number: int, now_ns: int) -> None:
        """Say which case of the batch is about to run, counted from 1."""
        _PROGRESS.pack_into(self._memory, 0, number, now_ns)

    def idle(self) -> None:
        """Say that no case is running."""
        _PROGRESS.pack_into(self._memory, 0, 0, 0)

    def has_room(self, payload: bytes) -> bool:
        """Return whether one more record fits."""
        return RECORDS_AT + self._at + _RECORD.size + len(payload) <= SIZE

    def append(self, status: int, cost_us: int, payload: bytes) -> None:
        """Add a record. The count is written last: a record is there whole or not at all."""
        start = RECORDS_AT + self._at
        body = start + _RECORD.size
        end = body + len(payload)
        memory = self._memory
        memory[body:end] = payload
        self.records += 1
        cost_us = min(cost_us, 0xFFFFFFFF)
        _RECORD.pack_into(memory, start, self.records, len(payload), status, cost_us)
        self._at = end - RECORDS_AT
        self._count += 1
        _WRITTEN.pack_into(memory, 16, self._at, self._count)


class Reader:
    """The parent's end."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)

    def clear(self) -> None:
        """Make the cell ready for another worker."""
        self._memory[:RECORDS_AT] = bytes(RECORDS_AT)

    def close(self) -> None:
        """Release the memory."""
        self._memory.close()

    def progress(self) -> tuple[int, int]:
        """Return the number of the running case (0: idle) and when it began, in ns."""
        number, began_ns = _PROGRESS.unpack_from(self._memory, 0)
        return number, began_ns

    def records(self, token: int, *, after: int, most: int) -> list[Record]:
        """Return the records that a batch has left in the cell.

        Args:
            token: of the batch; there are none while the worker has not begun it.
            after: how many of its records were read before.
            most: how many more it can have.

        Raises:
            CorruptCellError: if what is there cannot have been written by `CellWriter`.
        """
        memory = self._memory
        (written_by,) = _TOKEN.unpack_from(memory, _TOKEN_AT)
        written, count = _WRITTEN.unpack_from(memory, 16)
        if written_by != token:
            return []
        if written > SIZE - RECORDS_AT or count > most:
            message = f"{count} records in {written} bytes"
            raise CorruptCellError(message)
        found: list[Record] = []
        at, stop = RECORDS_AT, RECORDS_AT + written
        for expected in range(after + 1, after + count + 1):
            if at + _RECORD.size > stop:
                message = "a record starts behind the end"
                raise CorruptCellError(message)
            number, length, status, cost_us = _RECORD.unpack_from(memory, at)
            body = at + _RECORD.size
            at = body + length
            if at > stop or status not in STATUSES or number != expected:
                message = f"record {number} of {length} bytes with status {status}"
                raise CorruptCellError(message)
            found.append((status, cost_us, memory[body:at]))
        return found
