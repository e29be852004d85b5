"""How well the inputs that take a branch are those that it is meant for (Keeper, 4.1.1 and 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALPHA = 0.75
"""Least recall of a branch that is no failure (Keeper, 4.1.1)."""
ENOUGH = 20
"""Fewest inputs of which some are kept back, to judge on them what was fitted to the others."""
_EVERY = 3
_Z = 1.645
"""Quantile of the normal distribution at 95 %."""


@dataclass(frozen=True, slots=True)
class BranchCounts:
    """The inputs of a branch, counted."""

    expected: int
    """Those that are made for it: |I_b|."""
    took: int
    """Those that take it, whatever they are made for."""
    right: int
    """Those that are made for it and take it: |I_b,succ|."""

    @property
    def recall(self) -> float:
        """Share of the inputs made for it that take it; 1 if none is made for it.

        Source: Keeper, section 4.1.1.
        """
        return self.right / self.expected if self.expected else 1.0

    @property
    def precision(self) -> float:
        """Share of the inputs taking it that are made for it; 1 if none takes it.

        Source: Keeper, section 4.2.
        """
        return self.right / self.took if self.took else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision; 1 if nothing is expected and nothing takes it.

        Written as 2 right / (expected + took), which is the same and defined for no right ones too.

        Source: Keeper, section 4.2.
        """
        counted = self.expected + self.took
        return 2 * self.right / counted if counted else 1.0


def is_below(found: BranchCounts, alpha: float) -> bool:
    """Return whether the recall is below `alpha`, and not by chance alone.

    The upper end of its one-sided 95 % interval (Wilson) is below: with few inputs, a recall of
    0.65 tells little. The paper compares the recall itself (section 4.1.1).
    """
    count = found.expected
    if not count:
        return False
    share, square = found.recall, _Z**2
    middle = share + square / (2 * count)
    spread = _Z * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return (middle + spread) / (1 + square / count) < alpha


class Change(NamedTuple):
    """A branch as it is, and as it would be."""

    before: BranchCounts
    after: BranchCounts


def measured(exercised: Iterable[tuple[bool, bool]]) -> BranchCounts:
    """Count the inputs of a branch.

    Args:
        exercised: of each input, whether it is made for the branch and whether it takes it.
    """
    several = list(exercised)
    return BranchCounts(
        expected=sum(expected for expected, _ in several),
        took=sum(took for _, took in several),
        right=sum(expected and took for expected, took in several),
    )


def kept_back(kinds: Sequence[bool]) -> frozenset[int]:
    """Return the places of inputs to judge on, always the same: every third one of each kind.

    None if there are fewer than `ENOUGH` inputs, or too few of one kind.

    Args:
        kinds: of each input, what it is.
    """
    of_each = [[at for at, kind in enumerate(kinds) if kind is one] for one in (True, False)]
    if len(kinds) < ENOUGH or min(map(len, of_each)) < _EVERY:
        return frozenset()
    return frozenset(at for places in of_each for at in places[_EVERY - 1 :: _EVERY])
