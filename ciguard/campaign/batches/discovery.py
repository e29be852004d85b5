"""Estimate of how much the next batch of an API will discover, for scheduling.

The probability that the next case shows something new is estimated by the share of cases whose
kind of outcome was seen once. This is the Good-Turing estimator, which Böhme introduced to fuzzing
(STADS: Software Testing as Species Discovery, TOSEM 2018, section 3).
"""

from __future__ import annotations

import re
from functools import lru_cache
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
            return exception, _without_variable_text(message)
        case Crashed(cause, stack):
            return cause, stack[0].function if stack else ""
        case Exhausted(resource):
            return "exhausted", resource
        case _:
            return "hung", ""


@lru_cache(maxsize=4096)  # libraries repeat messages
def _without_variable_text(message: str) -> str:
    return _VARIABLE_TEXT.sub(" ", message[:_MAX_READ])


class DiscoveryEstimate:
    """Observed kinds of outcomes of one API, and the cost of its batches."""

    __slots__ = ("_batches", "_cases", "_cost_s", "_once", "_seen")

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}
        self._cases = self._batches = 0
        self._once = 0.0
        """Value of the kinds that were seen once."""
        self._cost_s = 0.0

    def observe(self, outcomes: Iterable[Outcome], cost_s: float) -> None:
        """Add the outcomes of a batch on one target, and the time that it took, in seconds."""
        seen = self._seen
        for outcome in outcomes:
            kind = outcome_kind(outcome)
            count = seen[kind] = seen.get(kind, 0) + 1
            if count <= 2:  # noqa: PLR2004 - seen again
                weight = _WEIGHT_OF_REJECTION if isinstance(outcome, Rejected) else 1.0
                self._once += weight if count == 1 else -weight
            self._cases += 1
        self._batches += 1
        self._cost_s += cost_s

    @property
    def rate(self) -> float:
        """Expected number of discoveries per second of the next batch."""
        probability = (self._once + 1) / (self._cases + 1)
        mean_cost_s = self._cost_s / max(1, self._batches)
        return probability / (mean_cost_s + _OVERHEAD_S)
