"""What a fork server reports: well-formed or an error of its own, whatever the bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ciguard.execution.decode import WorkerExit
from ciguard.execution.reports import (
    ChildExited,
    Forked,
    ReportError,
    Start,
    decode_report,
    decode_start,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["forked", "pid", "died", "status", "peak_kib", "ready", "version", "confined_by"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


def test_reports_are_decoded() -> None:
    assert decode_report(b'{"forked": 3, "pid": 17}') == Forked(3, 17)
    assert decode_report(b'{"died": 17, "status": 9, "peak_kib": 5}') == ChildExited(
        17, WorkerExit(9, 5)
    )
    assert decode_start(b'{"ready": {"version": "1", "confined_by": ["x"]}}') == Start(
        "", "1", ("x",)
    )
    assert decode_start(b'{"failed": "no", "log": ["a", "b"]}').failure == "no\nab"


@pytest.mark.parametrize("decode", [decode_report, decode_start])
@given(data=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
@example(data=b"[" * 100_000)
@example(data=b'{"died": 1e999, "status": 0, "peak_kib": 0}')
def test_malformed_reports_raise_only_report_errors(decode: object, data: bytes) -> None:
    try:
        decoded = decode(data)  # type: ignore[operator]
    except ReportError:
        return

    assert isinstance(decoded, Forked | ChildExited | Start)
