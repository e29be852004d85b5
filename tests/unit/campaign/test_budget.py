from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign.budget import Budget


@given(st.floats(1.0, 1e6))
def test_stages_end_one_after_the_other_and_before_the_budget(total_s: float) -> None:
    budget = Budget(total_s)
    began = time.monotonic() - budget.elapsed_s

    ends = [
        budget.explore_until,
        budget.explore_latest,
        budget.confirm_until,
        budget.minimise_until,
        budget.scripts_until,
        began + total_s,
    ]

    assert ends == sorted(ends)
    assert budget.explore_until > began


@given(st.floats(1.0, 1e6))
def test_exploring_leaves_time_for_measuring_comparable_targets(
    total_s: float,
) -> None:
    whole, shared = Budget(total_s), Budget(total_s)

    shared.measures = True

    assert shared.explore_until < whole.explore_until
    assert shared.measure_until < shared.confirm_until
    assert shared.measure_until - time.monotonic() <= 0.13 * total_s
    assert whole.measure_until <= time.monotonic()


@given(st.floats(1.0, 1e6))
def test_counting_follows_measuring_and_ends_before_confirming(total_s: float) -> None:
    plain, counting = Budget(total_s), Budget(total_s)
    plain.measures = counting.measures = True

    counting.counts = True

    assert counting.measure_until <= counting.count_until + 0.13 * total_s
    assert counting.count_until - time.monotonic() <= 0.07 * total_s
    assert counting.explore_latest < plain.explore_latest
    assert counting.count_until < counting.confirm_until
    assert plain.count_until <= time.monotonic()
    assert counting.suffices_to_count == (total_s >= 300)


def test_time_of_the_interrupted_run_counts() -> None:
    whole, rest = Budget(100.0), Budget(100.0, spent_s=90.0)

    assert rest.elapsed_s == pytest.approx(90.0, abs=1.0)
    assert whole.explore_until - rest.explore_until == pytest.approx(90.0, abs=1.0)
    assert rest.explore_until < time.monotonic() < rest.scripts_until


def test_stages_add_up_to_the_elapsed_time() -> None:
    budget = Budget(10.0)

    for name in ("describe", "explore", "describe"):
        assert budget.finish_stage(name) >= 0

    assert set(budget.stages) == {"describe", "explore"}
    assert sum(budget.stages.values()) == pytest.approx(budget.elapsed_s, abs=0.1)
