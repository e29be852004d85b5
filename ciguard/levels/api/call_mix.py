"""Shares of conforming and mutated calls, and the number of mutated arguments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class CallMutation(Enum):
    """Mutation of a call's arguments after they are drawn."""

    NONE = auto()
    """No mutation: the call conforms."""
    VIOLATE = auto()
    """One argument violates its constraint."""
    ONE = auto()
    """One argument is a boundary value."""
    TWO = auto()
    """Two arguments are boundary values."""
    MANY = auto()
    """Many arguments are boundary values."""
    JOINT = auto()
    """All tensors of one size, rank or dtype are changed together, so that they still agree."""
    SPECIAL = auto()
    """One tensor contains NaN or an infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMix:
    """Shares of the kinds of calls; the remaining calls conform."""

    violating: float
    """Share of calls with one argument that violates its constraint."""
    boundary: float
    """Share of calls with one boundary value."""
    two_boundaries: float
    """Share of calls with two boundary values. Many crashes need two unusual arguments, while the
    others are valid."""
    many_boundaries: float
    """Share of calls in which each argument is a boundary value with probability
    `mutation_probability`."""
    joint: float = 0.0
    """Share of calls whose tensors are changed together."""
    special: float = 0.0
    """Share of calls with NaN or an infinity in one tensor. Their results are compared."""
    optional: float = 0.2
    """Probability that a call passes an optional parameter: `optional_ratio` in DocTer."""
    mutation_probability: float = 0.4
    """Probability that an argument is mutated: `mutation_p` in DocTer."""

    def choose_mutation(self, pick: float) -> CallMutation:
        """Return the kind of mutation for `pick`, a number drawn uniformly from [0, 1)."""
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
        pick -= self.joint
        if pick < 0:
            return CallMutation.JOINT
        return CallMutation.SPECIAL if pick < self.special else CallMutation.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundMixes:
    """Mixes of an API's rounds."""

    first: CallMix
    """Mix of the first round."""
    later: CallMix
    """Mix of all rounds after the first."""


FIRST_ROUND = CallMix(
    violating=0.0,
    boundary=0.28,
    two_boundaries=0.15,
    many_boundaries=0.2,
    joint=0.17,
    special=0.03,
)
"""Mix that finds most crashes early: calls with a few boundary values, or with many."""
LEARNING = CallMix(
    violating=0.0, boundary=0.2, two_boundaries=0.08, many_boundaries=0.07, joint=0.1
)
"""Mix for an API that rejects most calls, for which accepted arguments must first be found."""
LATER_ROUNDS = CallMix(
    violating=0.05,
    boundary=0.28,
    two_boundaries=0.15,
    many_boundaries=0.15,
    joint=0.17,
    special=0.04,
)
"""Mix of all rounds after the first."""

CONFORMING = CallMix(
    violating=0.0, boundary=0.0, two_boundaries=0.0, many_boundaries=0.0, optional=0.4
)
"""Mix without mutations, for calls whose operators are observed."""

TO_CRASH = RoundMixes(first=FIRST_ROUND, later=LATER_ROUNDS)
"""Mixes for the targets of one library, most of whose defects are crashes."""
FROM_CONFORMING = RoundMixes(
    first=CallMix(
        violating=0.0, boundary=0.15, two_boundaries=0.05, many_boundaries=0.05, joint=0.1
    ),
    later=LATER_ROUNDS,
)
"""Mixes for several targets of one library. Most of the first calls conform, since later ones are
changes of one that passed."""
TO_DIFFER = RoundMixes(
    first=CallMix(
        violating=0.0,
        boundary=0.2,
        two_boundaries=0.05,
        many_boundaries=0.05,
        joint=0.15,
        special=0.25,
        optional=0.4,
    ),
    later=CallMix(
        violating=0.02,
        boundary=0.2,
        two_boundaries=0.05,
        many_boundaries=0.05,
        joint=0.15,
        special=0.2,
        optional=0.4,
    ),
)
"""Mixes for several backends, whose results are compared. Only those of conforming and special
calls are comparable, and a backend that compiles makes few calls of each API."""
