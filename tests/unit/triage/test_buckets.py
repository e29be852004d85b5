from __future__ import annotations

import dataclasses

from finding_examples import call, crash
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.findings import Confirmation
from ciguard.domain.values import Constant, ListValue, LiteralValue, Special, TensorValue
from ciguard.triage import Buckets, simplicity

FINDINGS = [
    crash(case=call(LiteralValue(n), api=api))
    for n in (1, 22, 333)
    for api in ("torch.a", "torch.b")
] + [crash(cause="SIGFPE", case=call(LiteralValue(4), api="torch.a"))]


@given(st.permutations(FINDINGS))
def test_buckets_are_independent_of_the_order_of_findings(
    findings: list[object],
) -> None:
    buckets, expected = Buckets(), Buckets()

    for finding in findings:
        buckets.add(finding)  # type: ignore[arg-type]
    for finding in FINDINGS:
        expected.add(finding)

    assert buckets.sorted() == expected.sorted()
    assert [bucket.count for bucket in buckets.sorted()].count(3) == 2


def test_add_makes_the_simplest_case_the_representative() -> None:
    buckets = Buckets()
    buckets.add(crash(case=call(TensorValue("complex64", (3, 4), Special(1)))))
    bucket = buckets.add(crash(case=call(LiteralValue(1))))

    assert bucket.finding.case.values == (LiteralValue(1),)
    assert bucket.count == 2


def test_add_keeps_a_confirmed_representative_over_a_simpler_one() -> None:
    buckets = Buckets()
    first = buckets.add(crash(case=call(LiteralValue(12345))))
    confirmed = dataclasses.replace(first, confirmation=Confirmation.CONFIRMED)
    buckets.replace(confirmed)

    bucket = buckets.add(crash(case=call(LiteralValue(1))))

    assert bucket.finding == confirmed.finding
    assert bucket.confirmation is Confirmation.CONFIRMED


def test_simplicity_prefers_fewer_parts_and_smaller_content() -> None:
    ordered = [
        call(LiteralValue(1)),
        call(LiteralValue(1234567)),
        call(TensorValue("float32", (1,), Constant(0.0))),
        call(TensorValue("float32", (1,), Special(3))),
        call(*(ListValue((LiteralValue(1),) * 5),) * 3),
    ]

    assert sorted(ordered, key=simplicity) == ordered
