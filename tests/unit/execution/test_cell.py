"""The shared-memory cell: what was written whole is read, anything else is an error."""

from __future__ import annotations

import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.execution.worker import cell as cells

TOKEN = 2**63 + 5
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
def test_records_are_read_in_order(written: list[cells.Record]) -> None:
    descriptor = memory()
    writer, reader = cells.CellWriter(descriptor), cells.Reader(descriptor)
    writer.begin_batch(TOKEN)
    for status, cost_us, payload in written:
        writer.append(status, cost_us, payload)

    assert reader.records(TOKEN, after=0, maximum=len(written)) == written

    reader.close()
    os.close(descriptor)


def test_progress_is_visible_to_the_reader() -> None:
    descriptor = memory()
    writer, reader = cells.CellWriter(descriptor), cells.Reader(descriptor)

    writer.begin_case(7, 123)

    assert reader.progress() == (7, 123)
    writer.idle()
    assert reader.progress() == (0, 0)
    reader.close()
    os.close(descriptor)


def test_a_full_cell_has_no_room() -> None:
    descriptor = memory()
    writer = cells.CellWriter(descriptor)
    writer.begin_batch(TOKEN)

    assert writer.has_room(bytes(cells.ROOM))
    assert not writer.has_room(bytes(cells.ROOM + 1))
    os.close(descriptor)


@pytest.mark.parametrize(
    ("at", "garbage"),
    [
        (16, struct.pack("<QQ", 2**63, 1)),
        (16, struct.pack("<QQ", 10, 2**40)),
        (16, struct.pack("<QQ", 5, 1)),
        (16, struct.pack("<QQ", 32, 2)),
        (64, struct.pack("<IIBI", 1, 2**31, cells.PASSED, 0)),
        (64, struct.pack("<IIBI", 1, 3, 0, 0)),
        (64, struct.pack("<IIBI", 2, 3, cells.PASSED, 0)),
    ],
)
def test_overwritten_memory_raises_an_error(at: int, garbage: bytes) -> None:
    descriptor = memory()
    writer, reader = cells.CellWriter(descriptor), cells.Reader(descriptor)
    writer.begin_batch(TOKEN)
    writer.append(cells.PASSED, 1, b"abc")
    os.pwrite(descriptor, garbage, at)

    with pytest.raises(cells.CorruptCellError):
        reader.records(TOKEN, after=0, maximum=1)

    reader.close()
    os.close(descriptor)


@given(st.binary(min_size=32, max_size=200), st.booleans())
def test_arbitrary_memory_raises_no_other_error(garbage: bytes, is_of_the_batch: bool) -> None:  # noqa: FBT001 - drawn
    descriptor = memory()
    reader = cells.Reader(descriptor)
    os.pwrite(descriptor, garbage, 0)
    if is_of_the_batch:
        os.pwrite(descriptor, struct.pack("<Q", TOKEN), 32)

    try:
        found = reader.records(TOKEN, after=0, maximum=7)
    except cells.CorruptCellError:
        found = []

    assert len(found) <= 7
    assert all(status in cells.STATUSES for status, _, _ in found)
    reader.close()
    os.close(descriptor)


@given(records, records)
def test_records_of_another_batch_are_never_returned(
    before: list[cells.Record], after: list[cells.Record]
) -> None:
    descriptor = memory()
    writer, reader = cells.CellWriter(descriptor), cells.Reader(descriptor)
    writer.begin_batch(TOKEN)
    for record in before:
        writer.append(*record)

    assert reader.records(TOKEN + 1, after=0, maximum=20) == []
    writer.begin_batch(TOKEN + 1)
    for record in after:
        writer.append(*record)

    assert reader.records(TOKEN + 1, after=0, maximum=20) == after
    reader.close()
    os.close(descriptor)


def test_record_numbers_continue_after_the_cell_was_read() -> None:
    descriptor = memory()
    writer, reader = cells.CellWriter(descriptor), cells.Reader(descriptor)
    writer.begin_batch(TOKEN)
    writer.append(cells.PASSED, 1, b"first")
    writer.begin_page()
    writer.append(cells.PASSED, 2, b"second")

    assert reader.records(TOKEN, after=1, maximum=5) == [(cells.PASSED, 2, b"second")]
    with pytest.raises(cells.CorruptCellError):
        reader.records(TOKEN, after=0, maximum=5)
    reader.close()
    os.close(descriptor)
