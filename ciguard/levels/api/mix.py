"""How often a call conforms, and how often and how many arguments it bends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Bend(Enum):
    """What is done to the arguments of a call after they were drawn."""

    NONE = auto()
    VIOLATE = auto()
    ONE = auto()
    TWO = auto()
    MANY = auto()
    SPECIAL = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Shares of the kinds of calls; what is left over conforms."""

    violating: float
    boundary: float
    two_boundaries: float
    """Two arguments on the edge: many crashes need an odd pair and a valid rest."""
    many_boundaries: float
    """Every argument on the edge with the probability `bent`: unguided calls, but well typed."""
    special: float = 0.0
    """NaN or an infinity among the elements of one tensor: what becomes of it is compared."""
    optional: float = 0.2
    """How often an optional parameter is given. DocTer's `optional_ratio`."""
    bent: float = 0.4
    """DocTer's `mutation_p`."""

    def bends(self, pick: float) -> Bend:
        """Return the kind of call for a number drawn from [0, 1)."""
        pick -= self.violating
        if pick < 0:
            return Bend.VIOLATE
        pick -= self.boundary
        if pick < 0:
            return Bend.ONE
        pick -= self.two_boundaries
        if pick < 0:
            return Bend.TWO
        pick -= self.many_boundaries
        if pick < 0:
            return Bend.MANY
        return Bend.SPECIAL if pick < self.special else Bend.NONE


FIRST_ROUND = Mix(
    violating=0.0, boundary=0.25, two_boundaries=0.2, many_boundaries=0.32, special=0.03
)
"""What kills a library first: boundary values, a few among valid ones or many at once."""
LEARNING = Mix(violating=0.0, boundary=0.2, two_boundaries=0.1, many_boundaries=0.1)
"""For an API most of whose calls are refused: what it accepts must be found out first."""
LATER_ROUNDS = Mix(
    violating=0.05, boundary=0.25, two_boundaries=0.2, many_boundaries=0.26, special=0.04
)
