"""The functions of a library that metamorphic relations compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectorising:
    """How a library makes a function of single items one of many."""

    vmap: str
    """Takes a function, and the axis that each of its arguments is mapped over."""
    stack: str
    """Takes a list of tensors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Widening:
    """How a library computes in double precision."""

    cast: str
    """Takes a tensor, and `settings` behind it."""
    multiply: str
    settings: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """Qualified names; a relation does not apply to a library that lacks what it needs."""

    broadcast: str = ""
    """Takes a tensor and a shape."""
    vectorising: Vectorising | None = None
    widening: Widening | None = None
    pickles_results: bool = False
    """Whether tensors of every type it has are the same after they were pickled."""
