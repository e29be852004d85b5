"""Shares of the time of APIs whose names resemble those that crashed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign.batches.crash_rates import CrashRates

POOLS = [f"lib.ops.{kind}_pool{rank}d" for kind in ("Max", "avg") for rank in (1, 2, 3)]
OTHERS = [f"lib.{name}" for name in ("add", "sub", "mul", "div", "neg", "abs")]
ADDED = "lib.ops.addCdiv"


def rates() -> CrashRates:
    return CrashRates([*POOLS, *OTHERS, ADDED])


def test_without_crashes_all_apis_have_equal_shares() -> None:
    assert set(rates().weights.values()) == {1.0}


def test_namesakes_of_a_crash_get_more_time_and_all_others_at_least_half() -> None:
    made = rates()

    assert made.note([POOLS[0]])

    weights = made.weights
    assert weights[POOLS[0]] == 1.0  # it would show little more
    assert min(weights[api] for api in POOLS[1:]) > weights[ADDED] > weights["lib.add"] >= 0.5
    assert weights[POOLS[1]] > weights[POOLS[3]]  # it is also a maximum
    assert sum(weights[api] for api in weights if api != POOLS[0]) == pytest.approx(
        len(weights) - 1
    )


def test_only_the_first_crash_of_an_api_changes_the_shares() -> None:
    made = rates()
    made.note(OTHERS[:1])
    weights = dict(made.weights)

    assert not made.note([*OTHERS[:1], "lib.unknown"])
    assert made.weights == weights


@given(st.lists(st.sampled_from([*POOLS, *OTHERS, ADDED])))
def test_shares_depend_on_the_crashes_but_not_on_their_order(crashed: list[str]) -> None:
    one_by_one, together = rates(), rates()
    for api in crashed:
        one_by_one.note([api])
    together.note(crashed)

    assert one_by_one.weights == together.weights
    assert all(weight >= 0.5 for weight in together.weights.values())
