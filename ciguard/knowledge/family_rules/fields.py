"""Building blocks of family rules: each function returns fields of a clue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ciguard.domain.values import ListValue, LiteralValue
from ciguard.knowledge.clues import Structure

if TYPE_CHECKING:
    from ciguard.values import Dim

Fields: TypeAlias = dict[str, Any]
"""Fields of a clue, by name."""
Table: TypeAlias = tuple[tuple[str, dict[str, Fields]], ...]
"""Rules: pairs of an API pattern and the fields of a clue by parameter pattern."""


def shaped(shape: tuple[Dim, ...], low: float | None = None, high: float | None = None) -> Fields:
    """Return the fields of a tensor of a shape, with elements in [low, high] if limits are set."""
    return {"shape": shape, "low": low, "high": high}


def scalar(low: float | None = None, high: float | None = None) -> Fields:
    """Return the fields of a tensor without dimensions."""
    return {"ndim": (0, 0), "low": low, "high": high}


def between(low: float, high: float) -> Fields:
    """Return the fields of a number, or of the elements of a tensor, in [low, high]."""
    return {"low": low, "high": high}


def texts(*allowed: str) -> Fields:
    """Return the fields of a string that must be one of `allowed`."""
    return {"allowed": tuple(map(LiteralValue, allowed))}


def int_lists(*rows: tuple[int, ...]) -> Fields:
    """Return the fields of a list of ints that must be one of `rows`."""
    lists = tuple(ListValue(tuple(map(LiteralValue, row))) for row in rows)
    return {"structures": (Structure.INTS,), "allowed": lists}


SCALAR = scalar()
"""Fields of a tensor without dimensions that has any value."""
RECURRENT_SIZES = (4, 3)
"""Input size and hidden size for torch's recurrent layers, whose constructors take `*args`."""
