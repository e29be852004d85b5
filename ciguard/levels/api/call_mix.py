"""Shares of conforming and mutated calls, and the number of mutated arguments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class CallMutation(Enum):
    """The mutation of a call's arguments after they are drawn."""

    NONE = auto()
    VIOLATE = auto()
    ONE = auto()
    TWO = auto()
    MANY = auto()
    SPECIAL = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMix:
    """Shares of the kinds of calls; the remaining calls conform."""

    violating: float
    """Share of calls with one argument that violates its constraint."""
    boundary: float
    """Share of calls with one boundary value."""
    two_boundaries: float
    """Share of calls with two boundary values: many crashes need an unusual pair and a valid
    rest."""
    many_boundaries: float
    """Share of calls where each argument is a boundary value with `mutation_probability`. Such
    calls are unguided, but well typed."""
    special: float = 0.0
    """Share of calls with NaN or an infinity in one tensor, whose results are compared."""
    optional: float = 0.2
    """Probability that an optional parameter is given. DocTer's `optional_ratio`."""
    mutation_probability: float = 0.4
    """Probability that an argument is mutated. DocTer's `mutation_p`."""

    def choose_mutation(self, pick: float) -> CallMutation:
        """Return the kind of call for a number drawn from [0, 1)."""
        pick -= self.violating
        if pick < 0:
            return CallMutation.VIOLATE
        pick -= self.boundary
        if pick < 0:
            return CallMutation.ONE
        pick -= self.two_boundaries
        if pick < 0:
            return CallMutation.TWO
        pick -= self.many_boundaries
        if pick < 0:
            return CallMutation.MANY
        return CallMutation.SPECIAL if pick < self.special else CallMutation.NONE


FIRST_ROUND = CallMix(
    violating=0.0, boundary=0.25, two_boundaries=0.2, many_boundaries=0.32, special=0.03
)
"""Mix that finds most crashes first: boundary values, a few among valid ones or many at once."""
LEARNING = CallMix(violating=0.0, boundary=0.2, two_boundaries=0.1, many_boundaries=0.1)
"""Mix for an API that rejects most calls: what it accepts must be found first."""
LATER_ROUNDS = CallMix(
    violating=0.05, boundary=0.25, two_boundaries=0.2, many_boundaries=0.26, special=0.04
)
"""Mix of all rounds after the first."""
