"""Reports and profiles of counting processes, which run untrusted code."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.execution import Measurement, Quantity
from ciguard.execution.counting import decode_count, instructions_request
from ciguard.execution.worker import cell
from ciguard.execution.worker.callgrind import IS_RUNNING, InstructionCounter, summary
from ciguard.execution.worker.counting import shift_heap

counts = st.lists(st.floats(0.0, 1e12), min_size=1, max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def report(measured: Measurement, *, status: int = cell.PASSED) -> bytes:
    record = measured.encoded().decode("ascii")
    return json.dumps({"status": status, "record": record}).encode("ascii")


@given(counts, st.integers(1, 20))
def test_a_count_is_decoded(values: list[float], calls: int) -> None:
    measured = Measurement(quantity=Quantity.INSTRUCTIONS, values=tuple(values), calls=calls)

    assert decode_count(report(measured)) == measured


@given(counts)
def test_other_records_hold_no_count(values: list[float]) -> None:
    count = Measurement(quantity=Quantity.INSTRUCTIONS, values=tuple(values))
    times = Measurement(quantity=Quantity.TIME, values=tuple(values))

    assert decode_count(report(count, status=cell.REJECTED)) is None
    assert decode_count(report(times)) is None
    assert decode_count(b'{"lost": "the process crashed"}') is None


@given(st.binary() | json_values.map(json.dumps).map(str.encode))
def test_any_report_is_decoded_or_refused(data: bytes) -> None:
    assert decode_count(data) is None


@given(json_values, json_values)
def test_any_record_is_decoded_or_refused(status: object, record: object) -> None:
    data = json.dumps({"status": status, "record": record}).encode("ascii", "backslashreplace")

    assert decode_count(data) is None


@given(st.integers(0, 10**15), st.text(), st.text())
def test_the_summary_of_a_profile_is_read(count: int, before: str, after: str) -> None:
    profile = f"{before.replace('summary', '')}\nsummary: {count}\n\n{after}"

    assert summary(profile) == count


def test_a_profile_without_a_summary_is_refused() -> None:
    with pytest.raises(ValueError, match="no summary"):
        summary("version: 1\nevents: Ir\n")


def test_a_process_outside_of_valgrind_does_not_count() -> None:
    counter = InstructionCounter("none")

    assert counter.request(IS_RUNNING) == 0
    with pytest.raises(RuntimeError, match="not run under Valgrind"):
        counter.start()


def test_layouts_differ() -> None:
    sizes = [sum(map(len, shift_heap(step))) for step in range(9)]

    assert sizes == sorted(set(sizes))
    assert sizes[0] == 0


def test_a_request_contains_plan_and_case() -> None:
    request = instructions_request(b'["a.b"]', repetitions=2)

    assert json.loads(request) == [["instructions", 2], ["a.b"]]
