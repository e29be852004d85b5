"""Two jobs that file at once, with failures at every request: one issue per group in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from filing_schedules import ALONE, BACK, GROUPS, KNOWN, NEW, NEWS, WHY, play

if TYPE_CHECKING:
    from pathlib import Path

    from filing_schedules import Ending

FEW = 12
MANY = 500
PART = 50


def assert_ended_well(seed: int, ending: Ending) -> None:
    assert ending.open_later == dict.fromkeys(GROUPS, 1), seed
    assert ending.left == 0, seed
    assert ending.said[KNOWN].count(NEWS) >= 1, seed
    assert ending.said[BACK].count(WHY) >= 1, seed
    assert ending.violations == [], seed


def test_two_jobs_with_failing_requests_leave_one_open_issue_per_group(tmp_path: Path) -> None:
    endings = [play(seed, tmp_path / str(seed)) for seed in range(FEW)]

    for seed, ending in enumerate(endings):
        assert_ended_well(seed, ending)
    assert sum(ending.faults for ending in endings) > FEW


def test_a_schedule_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    assert play(4, tmp_path / "one") == play(4, tmp_path / "two")


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=pytest.mark.slow if first == 0 else pytest.mark.release)
        for first in range(0, MANY, PART)
    ],
)
def test_five_hundred_schedules_leave_one_open_issue_per_group(first: int, tmp_path: Path) -> None:
    seeds = range(1000 + first, 1000 + first + PART)
    at_once: list[int] = []
    for seed in seeds:
        ending = play(seed, tmp_path / str(seed))
        assert_ended_well(seed, ending)
        at_once += [ending.open_at_once[name] for name in (*NEW, ALONE)]

    # Most are right before the next run looks again: only failures and stale listings need it.
    assert at_once.count(1) > len(at_once) / 2
