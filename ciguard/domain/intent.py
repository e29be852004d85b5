"""The intent with which a case was generated."""

from __future__ import annotations

from enum import StrEnum


class Intent(StrEnum):
    """Kind of input that the generator intended: a statement about the input, not the outcome."""

    CONFORMING = "conforming"
    """All arguments satisfy the known constraints."""
    VIOLATING = "violating"
    """One argument violates one known constraint."""
    BOUNDARY = "boundary"
    """One argument has a boundary value: zero, None, an empty list, the largest integer, …"""
    SPECIAL = "special"
    """Conforming, except for unusual elements in the tensors of one parameter: NaN, infinities and,
    between backends, also signed zeros, ties and integers out of range, tensors that changed alike,
    and numbers next to their range."""
