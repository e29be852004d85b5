"""The shared-memory cell: what was written whole is read, anything else is an error."""

from __future__ import annotations

import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.execution.worker import cell as cells

records = st.lists(
    st.tuples(
        st.sampled_from(sorted(cells.STATUSES)), st.integers(0, 2**32 - 1), st.binary(max_size=300)
    ),
    max_size=20,
)


def memory() -> int:
    descriptor = os.memfd_create("test-cell")
    os.ftruncate(descriptor, cells.SIZE)
    return descriptor


@given(records)
def test_records_come_back_in_order(written: list[cells.Record]) -> None:
    descriptor = memory()
    writer, reader = cells.Writer(descriptor), cells.Reader(descriptor)
    writer.begin_batch()
    for status, cost_us, payload in written:
        writer.append(status, cost_us, payload)

    assert reader.records() == written

    reader.close()
    os.close(descriptor)


def test_progress_is_seen_by_the_reader() -> None:
    descriptor = memory()
    writer, reader = cells.Writer(descriptor), cells.Reader(descriptor)

    writer.begin_case(7, 123)

    assert reader.progress() == (7, 123)
    writer.idle()
    assert reader.progress() == (0, 0)
    reader.close()
    os.close(descriptor)


def test_a_full_cell_says_so() -> None:
    descriptor = memory()
    writer = cells.Writer(descriptor)
    writer.begin_batch()

    assert writer.has_room(bytes(cells.ROOM))
    assert not writer.has_room(bytes(cells.ROOM + 1))
    os.close(descriptor)


@pytest.mark.parametrize(
    ("at", "garbage"),
    [
        (16, struct.pack("<QQ", 2**63, 1)),
        (16, struct.pack("<QQ", 10, 2**40)),
        (16, struct.pack("<QQ", 5, 1)),
        (64, struct.pack("<IBI", 2**31, cells.PASSED, 0)),
        (64, struct.pack("<IBI", 3, 0, 0)),
    ],
)
def test_overwritten_memory_is_an_error_and_never_a_record(at: int, garbage: bytes) -> None:
    descriptor = memory()
    writer, reader = cells.Writer(descriptor), cells.Reader(descriptor)
    writer.begin_batch()
    writer.append(cells.PASSED, 1, b"abc")
    os.pwrite(descriptor, garbage, at)

    with pytest.raises(cells.CorruptCellError):
        reader.records()

    reader.close()
    os.close(descriptor)


@given(st.binary(min_size=32, max_size=200))
def test_no_garbage_breaks_the_reader(garbage: bytes) -> None:
    descriptor = memory()
    reader = cells.Reader(descriptor)
    os.pwrite(descriptor, garbage, 0)

    try:
        found = reader.records()
    except cells.CorruptCellError:
        found = []

    assert all(status in cells.STATUSES for status, _, _ in found)
    reader.close()
    os.close(descriptor)
