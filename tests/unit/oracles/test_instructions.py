from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
from ciguard.domain.outcomes import Passed
from ciguard.execution import Measurement, Quantity
from ciguard.oracles import (
    KINDS,
    MORE_INSTRUCTIONS,
    CountChange,
    Identity,
    PerformanceOracle,
    Subject,
    has_counts,
)

OLD, NEW = "torch==2.12.0", "torch==2.13.0"
CASE = ApiCall(api="torch.sort", kind=CallKind.FUNCTION)
counts = st.floats(2e4, 1e9)
"""Instructions of a call; for fewer, 5 % may be less than the minimum difference."""
steady = st.lists(st.floats(-0.001, 0.001), min_size=6, max_size=18)
"""Relative deviations of steady counts."""


def measured(values: list[float]) -> Measurement:
    return Measurement(quantity=Quantity.INSTRUCTIONS, values=tuple(values))


def change(reference: list[float], other: list[float]) -> CountChange:
    return CountChange.between(measured(reference), measured(other))


def around(count: float, deviations: list[float]) -> list[float]:
    return [count * (1 + deviation) for deviation in deviations]


def findings_in(reference: list[float], other: list[float]) -> list[Finding]:
    first = Identity(request=OLD, packages=(OLD,), version="2.12.0", device="cpu")
    second = replace(first, request=NEW, packages=(NEW,), version="2.13.0")
    subject = Subject(library="torch", api=CASE.api, targets={OLD: first, NEW: second})
    outcomes = {
        name: Passed(measured(values).encoded(), 0.0)
        for name, values in ((OLD, reference), (NEW, other))
    }
    return list(PerformanceOracle().judge(CASE, outcomes, subject))


def slower(ratio: float) -> Finding:
    outcomes = {}
    for name, time_ns in ((OLD, 100e3), (NEW, ratio * 100e3)):
        times = Measurement(quantity=Quantity.TIME, values=(time_ns,) * 14)
        outcomes[name] = Passed(times.encoded(), time_ns / 1e9)
    return Finding(
        oracle="performance",
        kind=KINDS[Quantity.TIME],
        severity=Severity.LOW,
        library="torch",
        api=CASE.api,
        case=CASE,
        outcomes=outcomes,
        targets=(OLD, NEW),
        pair=PairKind.VERSION,
        message="torch.sort takes longer",
        evidence=Evidence(expected=f"{OLD}: 100 µs", observed=f"{NEW}: more", source="a test"),
    )


@given(counts, steady, steady, st.floats(0.5, 1.04))
def test_steady_counts_with_little_change_have_no_finding(
    count: float, first: list[float], second: list[float], ratio: float
) -> None:
    assert findings_in(around(count, first), around(ratio * count, second)) == []


@given(counts, steady, steady, st.floats(1.05, 50.0))
def test_steady_counts_that_grow_by_5_percent_have_a_finding(
    count: float, first: list[float], second: list[float], ratio: float
) -> None:
    (finding,) = findings_in(around(count, first), around(ratio * count, second))

    assert finding.kind == MORE_INSTRUCTIONS
    assert finding.severity is Severity.LOW
    assert finding.targets == (OLD, NEW)
    assert finding.evidence.expected.endswith(" instructions")
    assert has_counts(finding)


@given(counts, st.floats(1.01, 3.0))
def test_counts_that_vary_prove_nothing(count: float, ratio: float) -> None:
    varying = [count, 1.01 * count] * 3

    assert findings_in(varying, [ratio * value for value in varying]) == []


def test_one_process_in_an_unlucky_layout_does_not_make_counts_vary() -> None:
    outlier = [2_400_000.0, *[2_430_000.0] * 5]

    assert change(outlier, outlier).is_steady
    assert not change(outlier, [2_500_000.0] * 6).is_slower
    assert change(outlier, [2_600_000.0] * 6).is_slower


def test_a_few_more_instructions_of_a_short_call_have_no_finding() -> None:
    assert findings_in([4_000.0] * 6, [4_400.0] * 6) == []
    assert findings_in([4_000.0] * 6, [4_600.0] * 6) != []


@given(st.lists(st.floats(0.0, 1e12), min_size=1), st.lists(st.floats(0.0, 1e12), min_size=1))
def test_any_counts_are_judged(reference: list[float], other: list[float]) -> None:
    assert len(findings_in(reference, other)) <= 1


@pytest.mark.parametrize(
    ("time_ratio", "count_ratio", "spread", "is_refuted"),
    [
        (2.0, 1.0, 0.0, True),
        (2.0, 1.03, 0.0, True),
        (2.0, 0.5, 0.0, True),
        (2.0, 1.06, 0.0, False),
        (2.0, 1.0, 0.02, False),
        (3.5, 1.0, 0.0, False),
    ],
)
def test_equal_and_steady_counts_refute_a_time_that_is_not_far_longer(
    time_ratio: float, count_ratio: float, spread: float, *, is_refuted: bool
) -> None:
    assert CountChange(1e6, count_ratio * 1e6, spread).refutes(slower(time_ratio)) is is_refuted


def test_evidence_of_a_time_states_steady_counts_once() -> None:
    plain = slower(2.0)

    stated = CountChange(1e6, 1.9e6, 0.001).added_to(plain)

    assert not has_counts(plain)
    assert has_counts(stated)
    assert stated.evidence.expected == f"{OLD}: 100 µs, 1,000,000 instructions"
    assert stated.evidence.observed == f"{NEW}: more, 1,900,000 instructions"
    assert "agree (spread 0.10%)" in stated.evidence.source
    assert CountChange(1e6, 1.9e6, 0.001).added_to(stated) == stated


def test_evidence_of_a_time_does_not_state_counts_that_vary() -> None:
    assert CountChange(1e6, 1.9e6, 0.01).added_to(slower(2.0)) == slower(2.0)


def test_evidence_of_a_time_states_that_counts_do_not_change() -> None:
    stated = CountChange(1e6, 1e6, 0.0).added_to(slower(9.0))

    assert "do not change" in stated.evidence.source
