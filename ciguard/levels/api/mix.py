"""How often a call conforms, and how often and how many arguments it bends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Shares of the kinds of calls; what is left over conforms."""

    violating: float
    boundary: float
    two_boundaries: float
    """Two arguments on the edge: many crashes need an odd pair and a valid rest."""
    optional: float = 0.2
    """How often an optional parameter is given. DocTer's `optional_ratio`."""


FIRST_ROUND = Mix(violating=0.0, boundary=0.45, two_boundaries=0.1)
"""What kills a library first: boundary values among valid ones."""
LATER_ROUNDS = Mix(violating=0.15, boundary=0.3, two_boundaries=0.15)
