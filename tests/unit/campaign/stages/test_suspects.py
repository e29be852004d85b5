from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE, TWO, call, group, member

from ciguard.campaign.stages.suspects import Suspects, comparable
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.values import TensorValue, Uniform
from ciguard.oracles import Identity

if TYPE_CHECKING:
    from ciguard.campaign.group import Group
    from ciguard.domain.api_calls import ApiCall

MS = 1e-3


def pair(**changes: str) -> Group:
    made = group(member(ONE), member(TWO))
    identity = made.members[TWO].identity
    settings = {"version": identity.version, "device": identity.device, **changes}
    made.members[TWO].identity = Identity(request=TWO, packages=(), environment=(), **settings)
    return made


def executed(*rows: tuple[ApiCall, Outcome, Outcome]) -> ExecutedBatch:
    cases, one, two = zip(*rows, strict=True)
    return ExecutedBatch(cases[0].api, cases, {ONE: one, TWO: two})


def passed(cost_s: float) -> Passed:
    return Passed(b"null", cost_s)


def ranked(*batches: ExecutedBatch, of: Group | None = None) -> list[tuple[str, tuple[float, ...]]]:
    suspects = Suspects()
    for batch in batches:
        suspects.note(batch, of or pair())
    return [(c.case.api.rpartition(".")[2], c.costs) for c in suspects.ranked()]


def test_the_costliest_call_of_an_api_that_passed_everywhere_is_kept() -> None:
    batch = executed(
        (call("cube", 1), passed(1 * MS), passed(1 * MS)),
        (call("cube", 2), passed(3 * MS), passed(2 * MS)),
        (call("cube", 3), passed(9 * MS), Rejected("ValueError", "no")),
    )

    assert ranked(batch) == [("cube", (3 * MS, 2 * MS))]


def test_a_single_slow_run_on_one_target_is_not_preferred() -> None:
    batch = executed(
        (call("cube", 1), passed(2 * MS), passed(2 * MS)),
        (call("cube", 2), passed(1 * MS), passed(9 * MS)),
    )

    assert ranked(batch) == [("cube", (2 * MS, 2 * MS))]


def test_suspects_are_ranked_by_difference_then_by_cost() -> None:
    batches = [
        executed((call("even"), passed(5 * MS), passed(5 * MS))),
        executed((call("cheap"), passed(1 * MS), passed(1 * MS))),
        executed((call("twice"), passed(1 * MS), passed(2 * MS))),
        executed((call("thrice"), passed(1 * MS), passed(3 * MS))),
        executed((call("faster"), passed(4 * MS), passed(1 * MS))),
    ]

    names = [name for name, _ in ranked(*batches)]

    assert names == ["thrice", "twice", "even", "cheap", "faster"]


def test_a_difference_of_microseconds_is_not_suspicious() -> None:
    batches = [
        executed((call("even"), passed(5 * MS), passed(5 * MS))),
        executed((call("tiny"), passed(2e-6), passed(20e-6))),
    ]

    assert [name for name, _ in ranked(*batches)] == ["even", "tiny"]


def test_many_short_calls_with_the_same_difference_are_suspicious() -> None:
    often = [executed((call("often", n), passed(2e-6), passed(6e-6))) for n in range(40)]
    once = [executed((call("once", n), passed(2e-6), passed(2e-6))) for n in range(40)]
    once.append(executed((call("once", 40), passed(2e-6), passed(1 * MS))))

    assert [name for name, _ in ranked(*once, *often)] == ["often", "once"]


def test_of_two_short_calls_the_one_that_can_grow_is_kept() -> None:
    tensor = TensorValue("float32", (4,), Uniform(1, 0.0, 1.0))
    growing = replace(call("cube"), arguments=(tensor,))
    batch = executed(
        (growing, passed(2e-6), passed(2e-6)),
        (call("cube"), passed(5e-6), passed(5e-6)),
    )

    assert ranked(batch) == [("cube", (2e-6, 2e-6))]


@pytest.mark.parametrize(
    "case",
    [
        replace(call("cube"), intent=Intent.VIOLATING),
        replace(call("cube"), relation="the same call again gives the same"),
    ],
    ids=["violating", "with a twin"],
)
def test_a_call_that_did_not_pass_everywhere_is_ignored(case: ApiCall) -> None:
    assert ranked(executed((case, passed(1 * MS), passed(3 * MS)))) == []


def test_a_call_too_slow_to_be_repeated_is_ignored() -> None:
    assert ranked(executed((call("cube"), passed(0.5), passed(2.0)))) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, (ONE, TWO)), ({"version": "2.0"}, (ONE, TWO)), ({"device": "cuda"}, ())],
    ids=["environment", "version", "device"],
)
def test_versions_are_comparable_and_devices_are_not(
    changes: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert comparable((TWO, ONE), pair(**changes)) == expected


def test_a_single_target_has_nothing_to_compare() -> None:
    assert comparable((ONE,), pair()) == ()
