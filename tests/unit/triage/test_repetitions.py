"""Repetitions refute a difference only if they change what it is about."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaign_examples import ONE, TWO, difference, finding

from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.triage.repetitions import changed_targets, is_random

INT, FLOAT = '["T","int32",[1],"AQAAAA=="]', '["T","float32",[1],"AACAPw=="]'
OTHER_FLOAT, TWO_FLOATS = '["T","float32",[1],"AAAAQA=="]', '["T","float32",[2],"AACAPwAAgD8="]'


def passed(output: str) -> Passed:
    return Passed(output.encode(), 0.001)


REFUSED = Rejected("ValueError", "no")


@pytest.mark.parametrize(
    ("kind", "first", "later", "changed"),
    [
        ("values", FLOAT, OTHER_FLOAT, True),
        ("values", FLOAT, FLOAT, False),
        ("shape", FLOAT, OTHER_FLOAT, False),
        ("shape", FLOAT, TWO_FLOATS, True),
        ("dtype", FLOAT, TWO_FLOATS, False),
        ("dtype", FLOAT, INT, True),
        ("refused", FLOAT, INT, False),
        ("mutation", FLOAT, OTHER_FLOAT, True),
    ],
)
def test_only_kinds_of_difference_up_to_the_findings_own_refute_it(
    kind: str, first: str, later: str, *, changed: bool
) -> None:
    repeated = replace(difference(), kind=kind)
    outcomes: dict[str, Outcome] = {ONE: passed(later), TWO: REFUSED}

    found = changed_targets(repeated, [{ONE: passed(first), TWO: REFUSED}], outcomes)

    assert found == ({ONE} if changed else set())


def test_a_target_that_no_longer_refuses_a_call_refutes_every_difference() -> None:
    refused = replace(difference(), kind="refused")
    first: dict[str, Outcome] = {ONE: passed(FLOAT), TWO: REFUSED}

    assert changed_targets(refused, [first], {ONE: passed(FLOAT), TWO: passed(FLOAT)}) == {TWO}


def test_the_first_repetition_refutes_nothing() -> None:
    assert changed_targets(difference(), [], {ONE: passed(FLOAT), TWO: passed(INT)}) == set()


def test_a_difference_is_random_if_every_target_changes() -> None:
    first = {ONE: passed(FLOAT), TWO: passed(OTHER_FLOAT)}
    values = replace(difference(), kind="values")

    assert is_random(values, [first], {ONE: passed(OTHER_FLOAT), TWO: passed(FLOAT)})
    assert not is_random(values, [first], {ONE: passed(FLOAT), TWO: passed(FLOAT)})
    assert not is_random(finding(REFUSED), [{ONE: REFUSED}], {ONE: passed(FLOAT)})


def test_random_shape_that_one_target_draws_again_by_chance_is_random() -> None:
    shape = replace(difference(), kind="shape")
    first = {ONE: passed(FLOAT), TWO: passed(TWO_FLOATS)}
    later: dict[str, Outcome] = {ONE: passed(FLOAT), TWO: passed(FLOAT)}

    assert is_random(shape, [first], later, draws=True)
    assert not is_random(shape, [first], later)  # the shape depends on the memory of one release
    assert not is_random(shape, [first], dict(first), draws=True)
