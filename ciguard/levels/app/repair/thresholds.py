"""Thresholds that separate positive texts from negative ones (Keeper, sections 4.1.1 and 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ciguard.errors import ConfigurationError
from ciguard.levels.app.repair.measures import ALPHA, held_out_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MIXED = 1 - ALPHA
"""Share of each sentiment above which a branch is mixed.

The paper gives no number. This one matches the error rate of an accuracy failure: such a branch for
positive texts takes as large a share of negative texts as a failing branch misses of its inputs.
"""
_MIN_GAIN_OF_MAGNITUDE = 0.01
"""Accuracy that the magnitude must add, to be part of a threshold."""
_DIGITS = (1, 2, 3, 4)
_MAX_ROUNDING_LOSS = 0.005
"""Accuracy that may be lost by rounding."""


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A positive or negative text with the scores of a service."""

    score: float
    magnitude: float
    is_positive: bool
    took: bool
    """True if the text took the branch."""


class Shares(NamedTuple):
    """Share of the texts of each sentiment that take a branch, 0 to 1; 0 if there are none."""

    positive: float
    negative: float


class ShareChange(NamedTuple):
    """Shares of a branch before and after a change."""

    before: Shares
    after: Shares


class DecisionLine(NamedTuple):
    """The condition `score * s + magnitude * m + constant > 0`."""

    score: float
    """Factor of the score s; the larger factor is 1 or -1."""
    magnitude: float
    """Factor of the magnitude m; 0 if the magnitude is not used."""
    constant: float

    def holds(self, sample: ScoredText) -> bool:
        """Return whether a text would take a branch with this condition."""
        return self.score * sample.score + self.magnitude * sample.magnitude + self.constant > 0

    def condition(self, score: str, magnitude: str = "") -> str:
        """Return the condition as Python source.

        Args:
            score: the source of the score.
            magnitude: the source of the magnitude; ignored if its factor is 0.
        """
        if not self.magnitude:
            bound = -self.constant / self.score + 0.0  # no -0.0
            return f"{score} {'>' if self.score > 0 else '<'} {bound:g}"
        terms = ((self.score, score), (self.magnitude, magnitude), (self.constant, ""))
        first, *others = (_term(factor, variable) for factor, variable in terms if factor)
        signed = (f" {term[0]} {term[1:]}" for term in others)
        return f"{first.removeprefix('+')}{''.join(signed)} > 0"


def _term(factor: float, variable: str) -> str:
    """Return a term with its sign in front."""
    sign, size = "-" if factor < 0 else "+", f"{abs(factor):g}"
    if not variable:
        return f"{sign}{size}"
    return f"{sign}{variable}" if size == "1" else f"{sign}{size} * {variable}"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A better condition for a branch, with its measures."""

    line: DecisionLine
    before: Shares
    """Shares of all texts with the present condition."""
    after: Shares
    """Shares of all texts with the new condition."""
    held_out: ShareChange | None = None
    """Shares of the held-out texts, before and after; None if there are too few texts."""


def shares(samples: Sequence[ScoredText]) -> Shares:
    """Return the share of each sentiment that takes the branch (Keeper, section 4.1.1)."""
    return _shares(samples, lambda sample: sample.took)


def _shares(samples: Sequence[ScoredText], takes: Callable[[ScoredText], bool]) -> Shares:
    return Shares(*(
        sum(taken) / max(len(taken), 1)
        for kind in (True, False)
        for taken in [[takes(sample) for sample in samples if sample.is_positive is kind]]
    ))  # fmt: skip


def is_mixed(taken_shares: Shares, *, share: float = MIXED) -> bool:
    """Return whether many texts of both sentiments take a branch: an accuracy failure.

    Args:
        taken_shares: the share of each sentiment that takes the branch.
        share: the share above which both together are a failure.

    Source: Keeper, section 4.1.1.
    """
    return min(taken_shares) > share


def fitted(samples: Sequence[ScoredText], *, for_positive: bool) -> Threshold | None:
    """Return a threshold that separates the sentiments better; None if there is none.

    It is the decision line of a logistic regression on score and magnitude. The magnitude is left
    out if the balanced accuracy drops by at most 1 % without it. Numbers are rounded as long as the
    accuracy hardly changes. With enough samples, every third one is held out. The held-out samples
    decide about the magnitude, and the threshold must be better for them too.

    Args:
        samples: the texts with their scores.
        for_positive: whether the branch is meant for positive texts, else for negative ones.

    Raises:
        ConfigurationError: if scikit-learn is not installed.

    Source: Keeper, section 4.2.
    """
    kinds = [sample.is_positive for sample in samples]
    if len(set(kinds)) == 1 or not samples:
        return None
    held_out_places = held_out_indices(kinds)
    fit = _LineFit(
        [sample for index, sample in enumerate(samples) if index not in held_out_places],
        for_positive,
    )
    held_out = [samples[index] for index in sorted(held_out_places)]
    line = _better(fit.line(uses_magnitude=False), fit.line(uses_magnitude=True), fit, held_out)
    if line is None:
        return None
    changes = [
        ShareChange(shares(texts), _shares(texts, line.holds))
        for texts in filter(None, (samples, held_out))
    ]
    if any(fit.accuracy(after) <= fit.accuracy(before) for before, after in changes):
        return None
    return Threshold(line, *changes[0], held_out=changes[1] if held_out else None)


def _better(
    simple: DecisionLine | None,
    linear: DecisionLine | None,
    fit: _LineFit,
    held_out: Sequence[ScoredText],
) -> DecisionLine | None:
    """Return the simple line, unless the linear one is clearly better."""
    if simple is None or linear is None:
        return linear or simple
    samples = held_out or fit.samples
    linear_accuracy, simple_accuracy = (
        fit.accuracy(_shares(samples, line.holds)) for line in (linear, simple)
    )
    return simple if simple_accuracy >= linear_accuracy - _MIN_GAIN_OF_MAGNITUDE else linear


@dataclass(frozen=True, slots=True)
class _LineFit:
    """Fit of lines to samples."""

    samples: Sequence[ScoredText]
    for_positive: bool

    def accuracy(self, taken_shares: Shares) -> float:
        """Return the balanced accuracy: the mean over the two sentiments."""
        wanted, other = taken_shares if self.for_positive else reversed(taken_shares)
        return (wanted + 1 - other) / 2

    def line(self, *, uses_magnitude: bool) -> DecisionLine | None:
        """Return the rounded line of a logistic regression; None if all its factors are 0."""
        columns = 2 if uses_magnitude else 1
        model = _regression().fit(
            [(sample.score, sample.magnitude)[:columns] for sample in self.samples],
            [sample.is_positive is self.for_positive for sample in self.samples],
        )
        score, magnitude = (*map(float, model.coef_[0]), 0.0)[:2]
        largest = max(abs(score), abs(magnitude))
        if not largest:
            return None
        return self._rounded(
            DecisionLine(score / largest, magnitude / largest, float(model.intercept_[0]) / largest)
        )

    def _rounded(self, line: DecisionLine) -> DecisionLine:
        """Return a line rounded to the fewest digits with almost the same accuracy."""
        least = self.accuracy(_shares(self.samples, line.holds)) - _MAX_ROUNDING_LOSS
        for digits in _DIGITS:
            rounded = DecisionLine(*(round(factor, digits) for factor in line))
            if self.accuracy(_shares(self.samples, rounded.holds)) >= least:
                return rounded
        return line


def _regression() -> Any:
    try:
        linear: Any = import_module("sklearn.linear_model")  # an extra, without types
    except ImportError as error:
        msg = (
            "A threshold is fitted with scikit-learn, which is not installed. "
            "Install it with `pip install 'ciguard[apps]'`."
        )
        raise ConfigurationError(msg) from error
    return linear.LogisticRegression(class_weight="balanced")
