"""Recall, precision and F1 score of a branch (Keeper paper, sections 4.1.1 and 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALPHA = 0.75
"""Minimum recall of a branch; a lower one is a failure (Keeper paper, section 4.1.1)."""
MIN_INPUTS_TO_HOLD_OUT = 20
"""Minimum number of inputs for which some are held out, to validate a fit to the others."""
_HELD_OUT_INTERVAL = 3
"""One input in this many is held out."""
_Z = 1.645
"""Quantile of the standard normal distribution at 95 %."""


@dataclass(frozen=True, slots=True)
class BranchCounts:
    """Numbers of inputs of a branch."""

    expected: int
    """Number of inputs that should take the branch: |I_b|."""
    taken: int
    """Number of inputs that take the branch."""
    correct: int
    """Number of inputs that should take the branch and do: |I_b,succ|."""

    @property
    def recall(self) -> float:
        """Share of the expected inputs that take the branch; 1 if none is expected.

        Source: Keeper paper, section 4.1.1.
        """
        return self.correct / self.expected if self.expected else 1.0

    @property
    def precision(self) -> float:
        """Share of the inputs taking the branch that are expected; 1 if none takes it.

        Source: Keeper paper, section 4.2.
        """
        return self.correct / self.taken if self.taken else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision; 1 if nothing is expected and nothing takes it.

        Computed as 2 * correct / (expected + taken), which is also defined if `correct` is 0.

        Source: Keeper paper, section 4.2.
        """
        total = self.expected + self.taken
        return 2 * self.correct / total if total else 1.0


def is_below(counts: BranchCounts, alpha: float) -> bool:
    """Return whether the recall is significantly below `alpha`.

    The upper end of its one-sided 95 % Wilson interval must be below `alpha`, as the recall of few
    inputs is uncertain. The Keeper paper compares the recall itself (section 4.1.1).
    """
    count = counts.expected
    if not count:
        return False
    share, square = counts.recall, _Z**2
    middle = share + square / (2 * count)
    spread = _Z * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return (middle + spread) / (1 + square / count) < alpha


class Change(NamedTuple):
    """Counts of a branch before and after a change."""

    before: BranchCounts
    after: BranchCounts


def count_inputs(exercised: Iterable[tuple[bool, bool]]) -> BranchCounts:
    """Count the inputs of a branch.

    Args:
        exercised: for each input, whether it should take the branch, and whether it takes it.
    """
    inputs = list(exercised)
    return BranchCounts(
        expected=sum(expected for expected, _ in inputs),
        taken=sum(taken for _, taken in inputs),
        correct=sum(expected and taken for expected, taken in inputs),
    )


def held_out_indices(kinds: Sequence[bool]) -> frozenset[int]:
    """Return the indices of held-out inputs: every third one of each kind.

    The result is empty if there are fewer than `MIN_INPUTS_TO_HOLD_OUT` inputs, or fewer than three
    of a kind.

    Args:
        kinds: for each input, which of two kinds it is.
    """
    indices_by_kind = [
        [index for index, kind in enumerate(kinds) if kind is value] for value in (True, False)
    ]
    if len(kinds) < MIN_INPUTS_TO_HOLD_OUT or min(map(len, indices_by_kind)) < _HELD_OUT_INTERVAL:
        return frozenset()
    return frozenset(
        index
        for indices in indices_by_kind
        for index in indices[_HELD_OUT_INTERVAL - 1 :: _HELD_OUT_INTERVAL]
    )
