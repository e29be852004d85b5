"""Thresholds that tell positive texts from negative ones (Keeper, sections 4.1.1 and 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ciguard.errors import ConfigurationError
from ciguard.levels.app.repair.measures import ALPHA, kept_back

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MIXED = 1 - ALPHA
"""Share of either feeling above which a branch is mixed.

The paper names none; a branch that is meant for positive texts and takes more than that of negative
ones is wrong for as many of them as an accuracy failure is of inputs that it should take.
"""
_ADDS_NOTHING = 0.01
_DIGITS = (1, 2, 3, 4)
_COARSER = 0.005
"""Accuracy that a number may lose by being rounded."""


@dataclass(frozen=True, slots=True)
class ScoredText:
    """One text, as a service answered and people read it; neutral ones are none."""

    score: float
    magnitude: float
    is_positive: bool
    took: bool
    """Whether it took the branch."""


class Shares(NamedTuple):
    """How much of each feeling takes a branch, 0 to 1; 0 of none."""

    positive: float
    negative: float


class ShareChange(NamedTuple):
    """A branch as it is, and as it would be."""

    before: Shares
    after: Shares


class DecisionLine(NamedTuple):
    """Holds where `score * s + magnitude * m + constant > 0`."""

    score: float
    """Factor of the score s; the larger factor is 1 or -1."""
    magnitude: float
    """Factor of the magnitude m; 0 where it adds nothing."""
    constant: float

    def holds(self, sample: ScoredText) -> bool:
        """Return whether a text would take a branch with this condition."""
        return self.score * sample.score + self.magnitude * sample.magnitude + self.constant > 0

    def condition(self, score: str, magnitude: str = "") -> str:
        """Return it as Python.

        Args:
            score: expression of the score.
            magnitude: expression of the magnitude; not used where that adds nothing.
        """
        if not self.magnitude:
            bound = -self.constant / self.score + 0.0  # no -0.0
            return f"{score} {'>' if self.score > 0 else '<'} {bound:g}"
        terms = ((self.score, score), (self.magnitude, magnitude), (self.constant, ""))
        first, *others = (_term(factor, of) for factor, of in terms if factor)
        signed = (f" {term[0]} {term[1:]}" for term in others)
        return f"{first.removeprefix('+')}{''.join(signed)} > 0"


def _term(factor: float, of: str) -> str:
    """Return a term after its sign."""
    sign, size = "-" if factor < 0 else "+", f"{abs(factor):g}"
    if not of:
        return f"{sign}{size}"
    return f"{sign}{of}" if size == "1" else f"{sign}{size} * {of}"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A condition that a branch should have instead."""

    line: DecisionLine
    before: Shares
    """Of all texts."""
    after: Shares
    held_out: ShareChange | None = None
    """Of the texts that it was not fitted to; None if there are too few."""


def shares(samples: Sequence[ScoredText]) -> Shares:
    """Return how much of each feeling takes the branch (Keeper, section 4.1.1)."""
    return _shares(samples, lambda one: one.took)


def _shares(samples: Sequence[ScoredText], takes: Callable[[ScoredText], bool]) -> Shares:
    return Shares(*(
        sum(taken) / max(len(taken), 1)
        for kind in (True, False)
        for taken in [[takes(one) for one in samples if one.is_positive is kind]]
    ))  # fmt: skip


def is_mixed(found: Shares, *, share: float = MIXED) -> bool:
    """Return whether a branch is taken by many texts of either feeling: an accuracy failure.

    Args:
        found: how much of each feeling takes it.
        share: of each feeling that is too much.

    Source: Keeper, section 4.1.1.
    """
    return min(found) > share


def fitted(samples: Sequence[ScoredText], *, for_positive: bool) -> Threshold | None:
    """Return a threshold that tells the feelings apart better; None if there is none.

    It is the line of a logistic regression on score and magnitude. The magnitude is left out where
    the accuracy, of both feelings in equal parts, is at most 1 % worse without it; numbers are
    rounded as far as that changes next to nothing. With enough samples every third one is not
    fitted to; those decide about the magnitude, and a threshold that is no better for them is none.

    Args:
        samples: one for each text.
        for_positive: whether the branch is meant for positive texts, else for negative ones.

    Raises:
        ConfigurationError: if scikit-learn is not installed.

    Source: Keeper, section 4.2.
    """
    kinds = [one.is_positive for one in samples]
    if len(set(kinds)) == 1 or not samples:
        return None
    places = kept_back(kinds)
    fit = _LineFit([one for at, one in enumerate(samples) if at not in places], for_positive)
    held = [samples[at] for at in sorted(places)]
    line = _better(fit.line(uses_magnitude=False), fit.line(uses_magnitude=True), fit, held)
    if line is None:
        return None
    changes = [
        ShareChange(shares(several), _shares(several, line.holds))
        for several in filter(None, (samples, held))
    ]
    if any(fit.accuracy(after) <= fit.accuracy(before) for before, after in changes):
        return None
    return Threshold(line, *changes[0], held_out=changes[1] if held else None)


def _better(
    simple: DecisionLine | None,
    linear: DecisionLine | None,
    fit: _LineFit,
    held: Sequence[ScoredText],
) -> DecisionLine | None:
    """Return the line to suggest: the simple one unless the other is more than a little better."""
    if simple is None or linear is None:
        return linear or simple
    judged = held or fit.samples
    best, plain = (fit.accuracy(_shares(judged, one.holds)) for one in (linear, simple))
    return simple if plain >= best - _ADDS_NOTHING else linear


@dataclass(frozen=True, slots=True)
class _LineFit:
    """Samples that a line is fitted to."""

    samples: Sequence[ScoredText]
    for_positive: bool

    def accuracy(self, found: Shares) -> float:
        """Return the share of texts told right, of both feelings in equal parts."""
        wanted, other = found if self.for_positive else reversed(found)
        return (wanted + 1 - other) / 2

    def line(self, *, uses_magnitude: bool) -> DecisionLine | None:
        """Return the rounded line of a logistic regression; None if nothing depends on anything."""
        columns = 2 if uses_magnitude else 1
        model = _regression().fit(
            [(one.score, one.magnitude)[:columns] for one in self.samples],
            [one.is_positive is self.for_positive for one in self.samples],
        )
        score, magnitude = (*map(float, model.coef_[0]), 0.0)[:2]
        largest = max(abs(score), abs(magnitude))
        if not largest:
            return None
        return self._rounded(
            DecisionLine(score / largest, magnitude / largest, float(model.intercept_[0]) / largest)
        )

    def _rounded(self, line: DecisionLine) -> DecisionLine:
        """Return a line with as few digits as a person would write."""
        least = self.accuracy(_shares(self.samples, line.holds)) - _COARSER
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
