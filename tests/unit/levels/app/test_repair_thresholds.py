"""Thresholds of sentiments: mixed branches, and lines that tell the feelings apart."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ciguard.errors import ConfigurationError
from ciguard.levels.app.repair.thresholds import (
    DecisionLine,
    ScoredText,
    Shares,
    fitted,
    is_mixed,
    shares,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FACTORS = st.sampled_from([-1.0, -0.25, 0.0, 0.04, 0.3, 1.0])


def texts(
    of: Callable[[random.Random, bool], tuple[float, float]], *, above: float, count: int = 100
) -> list[ScoredText]:
    """Return texts of both feelings for a branch that compares the score with a number."""
    rng = random.Random(7)
    several = []
    for at in range(count):
        score, magnitude = of(rng, at % 2 == 0)
        several.append(ScoredText(score, magnitude, at % 2 == 0, score > above))
    return several


def text_of(score: float, magnitude: float, *, is_positive: bool = True) -> ScoredText:
    return ScoredText(score, magnitude, is_positive=is_positive, took=True)


def by_score(rng: random.Random, is_positive: bool) -> tuple[float, float]:  # noqa: FBT001
    return (rng.uniform(0.35, 0.9) if is_positive else rng.uniform(-0.7, 0.05)), rng.uniform(0, 4)


def by_both(rng: random.Random, is_positive: bool) -> tuple[float, float]:  # noqa: FBT001
    magnitude = rng.uniform(0, 4)
    return magnitude / 4 - 0.5 + (0.1 if is_positive else -0.1) + rng.uniform(-0.1, 0.1), magnitude


def test_shares_are_of_each_feeling() -> None:
    several = [ScoredText(0, 0, is_positive=True, took=took) for took in (True, True, False, False)]
    several.append(ScoredText(0, 0, is_positive=False, took=True))

    assert shares(several) == Shares(positive=0.5, negative=1.0)
    assert shares([]) == Shares(0, 0)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Shares(0.9, 0.26), True), (Shares(0.9, 0.25), False), (Shares(0.1, 1.0), False),
        (Shares(0, 0), False),
    ],
)  # fmt: skip
def test_a_branch_is_mixed_that_takes_much_of_both(found: Shares, expected: bool) -> None:  # noqa: FBT001
    assert is_mixed(found) is expected


def test_what_counts_as_much_can_be_chosen() -> None:
    assert is_mixed(Shares(0.2, 0.2), share=0.1)
    assert not is_mixed(Shares(0.9, 0.5), share=0.5)


@pytest.mark.parametrize(
    ("line", "condition"),
    [
        (DecisionLine(1, 0, -0.2), "s > 0.2"),
        (DecisionLine(-1, 0, 0.2), "s < 0.2"),
        (DecisionLine(-1, 0, 0), "s < 0"),
        (DecisionLine(1, 0.3, -0.25), "s + 0.3 * m - 0.25 > 0"),
        (DecisionLine(-1, -0.3, 0.25), "-s - 0.3 * m + 0.25 > 0"),
        (DecisionLine(0.5, 1, 0), "0.5 * s + m > 0"),
        (DecisionLine(0, -1, 2), "-m + 2 > 0"),
    ],
)
def test_a_line_is_written_as_a_person_would(line: DecisionLine, condition: str) -> None:
    assert line.condition("s", "m") == condition


@given(FACTORS, FACTORS, FACTORS, st.integers(-10, 10), st.integers(0, 40))
def test_a_line_holds_where_its_condition_does(
    score: float, magnitude: float, constant: float, s: int, m: int
) -> None:
    assume(score or magnitude)
    line, sample = DecisionLine(score, magnitude, constant), text_of(s / 8, m / 8)
    distance = score * sample.score + magnitude * sample.magnitude + constant
    assume(abs(distance) > 1e-9)  # on the line itself, rounding decides

    condition = line.condition("s", "m")

    assert eval(condition, {"s": sample.score, "m": sample.magnitude}) is line.holds(sample)  # noqa: S307


@pytest.mark.parametrize("for_positive", [True, False])
@pytest.mark.lengthy
def test_a_threshold_on_the_score_is_found_and_short(for_positive: bool) -> None:  # noqa: FBT001
    several = texts(by_score, above=-2)

    threshold = fitted(several, for_positive=for_positive)

    assert threshold is not None
    assert threshold.before == Shares(1, 1)
    wanted, other = threshold.after if for_positive else reversed(threshold.after)
    assert wanted >= 0.95
    assert other <= 0.05
    assert threshold.line.magnitude == 0
    assert threshold.line.condition("s") == ("s > 0.2" if for_positive else "s < 0.2")
    assert threshold.held_out is not None
    assert threshold.held_out.after.positive == pytest.approx(threshold.after.positive, abs=0.1)


def test_the_magnitude_is_used_where_the_score_alone_is_worse() -> None:
    several = texts(by_both, above=-0.4, count=200)

    threshold = fitted(several, for_positive=True)

    assert threshold is not None
    assert threshold.line.magnitude < 0 < threshold.line.score
    assert is_mixed(threshold.before)
    assert not is_mixed(threshold.after)


def test_few_samples_are_all_fitted_to() -> None:
    threshold = fitted(texts(by_score, above=-2, count=10), for_positive=True)

    assert threshold is not None
    assert threshold.held_out is None


def test_a_threshold_that_is_no_better_is_not_suggested() -> None:
    several = texts(by_score, above=0.2)

    assert fitted(several, for_positive=True) is None


@pytest.mark.parametrize("feelings", [(), (True,), (False, False)])
def test_one_feeling_alone_gives_no_threshold(feelings: tuple[bool, ...]) -> None:
    several = [text_of(0.5, 1, is_positive=feeling) for feeling in feelings]

    assert fitted(several, for_positive=True) is None


def test_scores_that_are_all_the_same_give_no_threshold() -> None:
    several = [text_of(0, 0, is_positive=at % 2 == 0) for at in range(8)]

    assert fitted(several, for_positive=True) is None


def test_without_the_package_a_person_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)

    with pytest.raises(ConfigurationError, match="ciguard\\[apps\\]"):
        fitted(texts(by_score, above=-2), for_positive=True)
