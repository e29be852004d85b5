"""What a case is meant to be."""

from __future__ import annotations

from enum import StrEnum


class Intent(StrEnum):
    """What the generator meant a case to be. A claim about the input, not about the outcome."""

    CONFORMING = "conforming"
    """Every argument satisfies what is known of its parameter."""
    VIOLATING = "violating"
    """One argument breaks one known constraint."""
    BOUNDARY = "boundary"
    """One argument sits on the edge: zero, None, empty, the largest integer."""
    SPECIAL = "special"
    """Conforms, but for NaN or an infinity among the elements of one tensor."""
