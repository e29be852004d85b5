"""Thresholds of sentiments: mixed branches, and lines that separate the sentiments."""

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
    fit_threshold,
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
    samples = []
    for at in range(count):
        score, magnitude = of(rng, at % 2 == 0)
        samples.append(ScoredText(score, magnitude, at % 2 == 0, score > above))
    return samples


def text_of(score: float, magnitude: float, *, is_positive: bool = True) -> ScoredText:
    return ScoredText(score, magnitude, is_positive=is_positive, takes_branch=True)


def by_score(rng: random.Random, is_positive: bool) -> tuple[float, float]:  # noqa: FBT001
    return (rng.uniform(0.35, 0.9) if is_positive else rng.uniform(-0.7, 0.05)), rng.uniform(0, 4)


def by_both(rng: random.Random, is_positive: bool) -> tuple[float, float]:  # noqa: FBT001
    magnitude = rng.uniform(0, 4)
    return magnitude / 4 - 0.5 + (0.1 if is_positive else -0.1) + rng.uniform(-0.1, 0.1), magnitude


def test_shares_are_computed_for_each_sentiment() -> None:
    samples = [
        ScoredText(0, 0, is_positive=True, takes_branch=taken)
        for taken in (True, True, False, False)
    ]
    samples.append(ScoredText(0, 0, is_positive=False, takes_branch=True))

    assert shares(samples) == Shares(positive=0.5, negative=1.0)
    assert shares([]) == Shares(0, 0)


@pytest.mark.parametrize(
    ("taken_shares", "expected"),
    [
        (Shares(0.9, 0.26), True), (Shares(0.9, 0.25), False), (Shares(0.1, 1.0), False),
        (Shares(0, 0), False),
    ],
)  # fmt: skip
def test_branch_taken_by_many_texts_of_both_sentiments_is_mixed(
    taken_shares: Shares,
    expected: bool,  # noqa: FBT001
) -> None:
    assert is_mixed(taken_shares) is expected


def test_mixed_share_is_configurable() -> None:
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
def test_decision_line_is_written_as_idiomatic_python(line: DecisionLine, condition: str) -> None:
    assert line.condition("s", "m") == condition


@given(FACTORS, FACTORS, FACTORS, st.integers(-10, 10), st.integers(0, 40))
def test_decision_line_agrees_with_its_python_condition(
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
def test_fitted_score_threshold_has_few_digits(for_positive: bool) -> None:  # noqa: FBT001
    samples = texts(by_score, above=-2)

    threshold = fit_threshold(samples, for_positive=for_positive)

    assert threshold is not None
    assert threshold.before == Shares(1, 1)
    wanted, other = threshold.after if for_positive else reversed(threshold.after)
    assert wanted >= 0.95
    assert other <= 0.05
    assert threshold.line.magnitude == 0
    assert threshold.line.condition("s") == ("s > 0.2" if for_positive else "s < 0.2")
    assert threshold.held_out is not None
    assert threshold.held_out.after.positive == pytest.approx(threshold.after.positive, abs=0.1)


def test_fitted_threshold_uses_the_magnitude_where_it_helps() -> None:
    samples = texts(by_both, above=-0.4, count=200)

    threshold = fit_threshold(samples, for_positive=True)

    assert threshold is not None
    assert threshold.line.magnitude < 0 < threshold.line.score
    assert is_mixed(threshold.before)
    assert not is_mixed(threshold.after)


def test_few_samples_are_all_used_for_the_fit() -> None:
    threshold = fit_threshold(texts(by_score, above=-2, count=10), for_positive=True)

    assert threshold is not None
    assert threshold.held_out is None


def test_threshold_without_improvement_is_not_suggested() -> None:
    samples = texts(by_score, above=0.2)

    assert fit_threshold(samples, for_positive=True) is None


@pytest.mark.parametrize("feelings", [(), (True,), (False, False)])
def test_fit_to_one_sentiment_gives_no_threshold(feelings: tuple[bool, ...]) -> None:
    samples = [text_of(0.5, 1, is_positive=feeling) for feeling in feelings]

    assert fit_threshold(samples, for_positive=True) is None


def test_fit_to_equal_scores_gives_no_threshold() -> None:
    samples = [text_of(0, 0, is_positive=at % 2 == 0) for at in range(8)]

    assert fit_threshold(samples, for_positive=True) is None


def test_fit_without_scikit_learn_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)

    with pytest.raises(ConfigurationError, match="ciguard\\[apps\\]"):
        fit_threshold(texts(by_score, above=-2), for_positive=True)
