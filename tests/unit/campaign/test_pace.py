"""The first timeout of a case, from the pace of its target."""

from __future__ import annotations

import pytest

from ciguard.campaign.pace import MIN_FIRST_LIMIT_S, Pace


def test_the_first_timeout_has_a_minimum() -> None:
    pace = Pace()

    assert pace.first_limit_s("f") == MIN_FIRST_LIMIT_S
    pace.observe("f", 0.016, 16)
    assert pace.first_limit_s("f") == MIN_FIRST_LIMIT_S


def test_a_slow_target_has_a_longer_first_timeout() -> None:
    pace = Pace()

    pace.observe("f", 0.8, 16)

    assert pace.first_limit_s("g") == pytest.approx(25 * 0.05)


def test_one_slow_api_extends_its_own_timeout_only() -> None:
    pace = Pace()
    for _ in range(20):
        pace.observe("f", 0.016, 16)

    pace.observe("slow", 0.5, 1)

    assert pace.first_limit_s("slow") == pytest.approx(1.5)
    assert pace.first_limit_s("f") == MIN_FIRST_LIMIT_S


def test_a_batch_without_outcomes_changes_nothing() -> None:
    pace = Pace()

    pace.observe("f", 3.0, 0)

    assert pace.first_limit_s("f") == MIN_FIRST_LIMIT_S
