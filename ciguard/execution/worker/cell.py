"""The shared-memory cell between a worker and its parent.

The worker writes its progress and the record of each case. The parent reads them when the worker
reports, and also after the worker has crashed, so that no record is lost.

Layout, little-endian:

    0   u64  number of the running case within its batch, from 1; 0 when idle
    8   u64  when that case began, CLOCK_MONOTONIC ns
    16  u64  bytes of records in the cell
    24  u64  records in the cell
    32  u64  token of the batch, see `messages`
    64  …    records: u32 number of the case within the batch, from 1, u32 length of the payload,
             u8 status, u32 cost in µs, payload

After a full cell was read, records begin at its start again; their numbering continues.

The worker is untrusted, so the parent validates every number.
"""

from __future__ import annotations

import mmap
import struct

SIZE = 4 * 1024 * 1024
"""Size of the cell, in bytes."""
RECORDS_AT = 64
"""Offset of the first record, in bytes."""
_PROGRESS = struct.Struct("<QQ")
_WRITTEN = struct.Struct("<QQ")
_TOKEN = struct.Struct("<Q")
_TOKEN_AT = 32
_RECORD = struct.Struct("<IIBI")
ROOM = SIZE - RECORDS_AT - _RECORD.size
"""Maximum size of the payload of one record, in bytes."""

PASSED = ord("P")
REJECTED = ord("R")
UNBUILT = ord("B")
ERRORED = ord("E")
EXHAUSTED = ord("X")
INEXPRESSIBLE = ord("I")
STATUSES = frozenset((PASSED, REJECTED, UNBUILT, ERRORED, EXHAUSTED, INEXPRESSIBLE))

Record = tuple[int, int, bytes]
"""Status, cost in µs, and payload."""


class CorruptCellError(Exception):
    """The code under test has corrupted the cell."""


class CellWriter:
    """The worker's access to the cell."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)
        self._offset = 0
        self._page_count = 0
        """Number of records in the cell that the parent has not read yet."""
        self.records = 0
        """Number of records of the batch."""

    def begin_batch(self, token: int) -> None:
        """Start a batch, and discard the records of the previous one."""
        self.records = 0
        self.begin_page()
        _TOKEN.pack_into(self._memory, _TOKEN_AT, token)

    def begin_page(self) -> None:
        """Discard the records that were read."""
        self._offset = self._page_count = 0
        _WRITTEN.pack_into(self._memory, 16, 0, 0)

    def begin_case(self, number: int, now_ns: int) -> None:
        """Announce the case that is about to run, by its number in the batch, from 1."""
        _PROGRESS.pack_into(self._memory, 0, number, now_ns)

    def idle(self) -> None:
        """Announce that no case is running."""
        _PROGRESS.pack_into(self._memory, 0, 0, 0)

    def has_room(self, payload: bytes) -> bool:
        """Return whether one more record fits."""
        return RECORDS_AT + self._offset + _RECORD.size + len(payload) <= SIZE

    def append(self, status: int, cost_us: int, payload: bytes) -> None:
        """Append a record; write the cell's count last, so that no partial record is visible."""
        start = RECORDS_AT + self._offset
        body = start + _RECORD.size
        end = body + len(payload)
        memory = self._memory
        memory[body:end] = payload
        self.records += 1
        cost_us = min(cost_us, 0xFFFFFFFF)
        _RECORD.pack_into(memory, start, self.records, len(payload), status, cost_us)
        self._offset = end - RECORDS_AT
        self._page_count += 1
        _WRITTEN.pack_into(memory, 16, self._offset, self._page_count)


class Reader:
    """The parent's access to the cell."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)

    def clear(self) -> None:
        """Make the cell ready for another worker."""
        self._memory[:RECORDS_AT] = bytes(RECORDS_AT)

    def close(self) -> None:
        """Release the memory."""
        self._memory.close()

    def progress(self) -> tuple[int, int]:
        """Return the number of the running case (0: idle) and its start time, in ns."""
        number, began_ns = _PROGRESS.unpack_from(self._memory, 0)
        return number, began_ns

    def records(self, token: int, *, after: int, maximum: int) -> list[Record]:
        """Return the records of a batch that are in the cell.

        Args:
            token: token of the batch, which the worker writes when it begins the batch.
            after: number of its records that were read before.
            maximum: number of further records that the batch can have.

        Raises:
            CorruptCellError: if the content was not written by `CellWriter`.
        """
        memory = self._memory
        (batch_token,) = _TOKEN.unpack_from(memory, _TOKEN_AT)
        written, count = _WRITTEN.unpack_from(memory, 16)
        if batch_token != token:
            return []
        if written > SIZE - RECORDS_AT or count > maximum:
            message = f"{count} records in {written} bytes"
            raise CorruptCellError(message)
        records: list[Record] = []
        offset, stop = RECORDS_AT, RECORDS_AT + written
        for expected in range(after + 1, after + count + 1):
            if offset + _RECORD.size > stop:
                message = "a record starts after the end of the page"
                raise CorruptCellError(message)
            number, length, status, cost_us = _RECORD.unpack_from(memory, offset)
            body = offset + _RECORD.size
            offset = body + length
            if offset > stop or status not in STATUSES or number != expected:
                message = f"record {number} of {length} bytes with status {status}"
                raise CorruptCellError(message)
            records.append((status, cost_us, memory[body:offset]))
        return records
