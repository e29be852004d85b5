"""Thresholds between positive and negative texts (Keeper paper, sections 4.1.1 and 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ciguard.errors import ConfigurationError
from ciguard.levels.app.repair.measures import ALPHA, held_out_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MIXED = 1 - ALPHA
"""Share of texts above which a branch is mixed, if both sentiments exceed it.

The Keeper paper gives no number. This one is the share of its inputs that a branch may miss before
it counts as an accuracy failure.
"""
_MIN_MAGNITUDE_GAIN = 0.01
"""Minimum gain in balanced accuracy for which a threshold uses the magnitude."""
_DIGITS = (1, 2, 3, 4)
"""Numbers of decimals to which a threshold may be rounded, in order of preference."""
_MAX_ROUNDING_LOSS = 0.005
"""Maximum loss of balanced accuracy by rounding."""


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A positive or negative text with the scores of a service."""

    score: float
    magnitude: float
    is_positive: bool
    takes_branch: bool
    """True if the text takes the branch."""


class Shares(NamedTuple):
    """Share of the texts of each sentiment that take a branch, 0 to 1; 0 without such texts."""

    positive: float
    negative: float


class ShareChange(NamedTuple):
    """Shares of a branch before and after a change."""

    before: Shares
    after: Shares


class DecisionLine(NamedTuple):
    """The condition `score * s + magnitude * m + constant > 0` on a text's score and magnitude."""

    score: float
    """Factor of the text's score s; the factor with the larger absolute value is 1 or -1."""
    magnitude: float
    """Factor of the text's magnitude m; 0 if the magnitude is not used."""
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
            bound = -self.constant / self.score + 0.0  # turns -0.0 into 0.0
            return f"{score} {'>' if self.score > 0 else '<'} {bound:g}"
        terms = ((self.score, score), (self.magnitude, magnitude), (self.constant, ""))
        first, *others = (_term(factor, variable) for factor, variable in terms if factor)
        signed = (f" {term[0]} {term[1:]}" for term in others)
        return f"{first.removeprefix('+')}{''.join(signed)} > 0"


def _term(factor: float, variable: str) -> str:
    """Return a term of a sum as source text, with its sign in front."""
    sign, size = "-" if factor < 0 else "+", f"{abs(factor):g}"
    if not variable:
        return f"{sign}{size}"
    return f"{sign}{variable}" if size == "1" else f"{sign}{size} * {variable}"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A better condition for a branch, with the shares of texts that take the branch."""

    line: DecisionLine
    before: Shares
    """Shares of all texts with the current condition."""
    after: Shares
    """Shares of all texts with the new condition."""
    held_out: ShareChange | None = None
    """Shares of the held-out texts, before and after; None if there are too few texts."""


def shares(samples: Sequence[ScoredText]) -> Shares:
    """Return the share of each sentiment that takes the branch (Keeper paper, section 4.1.1)."""
    return _shares(samples, lambda sample: sample.takes_branch)


def _shares(samples: Sequence[ScoredText], decision: Callable[[ScoredText], bool]) -> Shares:
    return Shares(*(
        sum(taken) / max(len(taken), 1)
        for kind in (True, False)
        for taken in [[decision(sample) for sample in samples if sample.is_positive is kind]]
    ))  # fmt: skip


def is_mixed(taken_shares: Shares, *, share: float = MIXED) -> bool:
    """Return whether many texts of both sentiments take a branch: an accuracy failure.

    Args:
        taken_shares: the share of each sentiment that takes the branch.
        share: the branch is mixed if the shares of both sentiments exceed this share.

    Source: Keeper paper, section 4.1.1.
    """
    return min(taken_shares) > share


def fit_threshold(samples: Sequence[ScoredText], *, for_positive: bool) -> Threshold | None:
    """Return a threshold that separates the sentiments better than now; None if there is none.

    It is the decision line of a logistic regression on score and magnitude. The magnitude is left
    out if the balanced accuracy drops by at most 1 % without it. Numbers are rounded as long as the
    accuracy drops by at most 0.5 %. With enough samples, every third one is held out. The held-out
    samples decide whether the magnitude is used, and the threshold must separate them better too.

    Args:
        samples: the texts with their scores.
        for_positive: True if positive texts should take the branch, False if negative ones.

    Raises:
        ConfigurationError: if scikit-learn is not installed.

    Source: Keeper paper, section 4.2.
    """
    kinds = [sample.is_positive for sample in samples]
    if len(set(kinds)) == 1 or not samples:
        return None
    held_out_positions = held_out_indices(kinds)
    fit = _LineFit(
        [sample for index, sample in enumerate(samples) if index not in held_out_positions],
        for_positive,
    )
    held_out = [samples[index] for index in sorted(held_out_positions)]
    line = _simpler_if_as_good(
        fit.line(uses_magnitude=False), fit.line(uses_magnitude=True), fit, held_out
    )
    if line is None:
        return None
    changes = [
        ShareChange(shares(texts), _shares(texts, line.holds))
        for texts in filter(None, (samples, held_out))
    ]
    if any(fit.accuracy(after) <= fit.accuracy(before) for before, after in changes):
        return None
    return Threshold(line, *changes[0], held_out=changes[1] if held_out else None)


def _simpler_if_as_good(
    simple: DecisionLine | None,
    linear: DecisionLine | None,
    fit: _LineFit,
    held_out: Sequence[ScoredText],
) -> DecisionLine | None:
    """Return the line without the magnitude, unless the one with it is clearly better."""
    if simple is None or linear is None:
        return linear or simple
    samples = held_out or fit.samples
    linear_accuracy, simple_accuracy = (
        fit.accuracy(_shares(samples, line.holds)) for line in (linear, simple)
    )
    return simple if simple_accuracy >= linear_accuracy - _MIN_MAGNITUDE_GAIN else linear


@dataclass(frozen=True, slots=True)
class _LineFit:
    """Fit of decision lines to samples."""

    samples: Sequence[ScoredText]
    for_positive: bool

    def accuracy(self, taken_shares: Shares) -> float:
        """Return the balanced accuracy: the mean of the accuracies for the two sentiments."""
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
        """Return a line rounded to as few decimals as the accuracy allows."""
        min_accuracy = self.accuracy(_shares(self.samples, line.holds)) - _MAX_ROUNDING_LOSS
        for digits in _DIGITS:
            rounded = DecisionLine(*(round(factor, digits) for factor in line))
            if self.accuracy(_shares(self.samples, rounded.holds)) >= min_accuracy:
                return rounded
        return line


def _regression() -> Any:
    try:
        linear: Any = import_module("sklearn.linear_model")  # from an extra, without type hints
    except ImportError as error:
        msg = (
            "Fitting a threshold needs scikit-learn, which is not installed. "
            "Install it with `pip install 'ciguard[apps]'`."
        )
        raise ConfigurationError(msg) from error
    return linear.LogisticRegression(class_weight="balanced")
