"""Estimate of how much the next batch of an API will discover, for scheduling.

The probability that the next case shows something new is estimated by the share of cases whose
kind of outcome was seen once. This is the Good-Turing estimator, which Böhme introduced to fuzzing
(STADS: Software Testing as Species Discovery, TOSEM 2018, section 3).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Outcome, Passed, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable

_VARIABLE_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"|(?:[^\w'\"]|[\d_])+")
"""Quoted text, numbers and punctuation, which vary with the arguments."""
_MAX_READ = 160
_TYPE_LENGTH = 16
"""Number of bytes at the beginning of encoded outputs: their container and first dtype."""
_OVERHEAD_S = 0.02
"""Time that is added to the cost of a batch, in seconds.

Without it, APIs that reject every call take all turns, since a rejection is cheap."""
_WEIGHT_OF_REJECTION = 0.2
"""Value of a new kind of rejection, relative to a new result or failure: most messages that differ
come from the same check of the arguments, before the call does anything."""


def outcome_kind(outcome: Outcome) -> tuple[str, str]:
    """Return the kind of an outcome: two outcomes of one kind show the same behaviour."""
    match outcome:
        case Passed(encoded):
            return "passed", encoded[:_TYPE_LENGTH].decode("latin-1")
        case Rejected(exception, message) | Errored(exception, message):
            return exception, _VARIABLE_TEXT.sub(" ", message[:_MAX_READ])
        case Crashed(cause, stack):
            return cause, stack[0].function if stack else ""
        case Exhausted(resource):
            return "exhausted", resource
        case _:
            return "hung", ""


class DiscoveryEstimate:
    """Observed kinds of outcomes of one API, and the cost of its batches."""

    __slots__ = ("_batches", "_cases", "_cost_s", "_rejections", "_seen")

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()
        self._rejections: set[tuple[str, str]] = set()
        self._cases = self._batches = 0
        self._cost_s = 0.0

    def observe(self, outcomes: Iterable[Outcome], cost_s: float) -> None:
        """Add the outcomes of a batch on one target, and the time that it took, in seconds."""
        for outcome in outcomes:
            kind = outcome_kind(outcome)
            self._seen[kind] += 1
            self._cases += 1
            if isinstance(outcome, Rejected):
                self._rejections.add(kind)
        self._batches += 1
        self._cost_s += cost_s

    @property
    def rate(self) -> float:
        """Expected number of discoveries per second of the next batch."""
        once = sum(
            _WEIGHT_OF_REJECTION if kind in self._rejections else 1.0
            for kind, count in self._seen.items()
            if count == 1
        )
        probability = (once + 1) / (self._cases + 1)
        mean_cost_s = self._cost_s / max(1, self._batches)
        return probability / (mean_cost_s + _OVERHEAD_S)
