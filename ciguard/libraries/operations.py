"""Functions of a library with which metamorphic relations compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectorising:
    """Functions that turn a function of single items into a function of batches."""

    vmap: str
    """Name of the function that vectorises a function over an axis of each argument."""
    stack: str
    """Name of the function that stacks a list of tensors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Widening:
    """Functions that compute in double precision."""

    cast: str
    """Name of the function that casts a tensor to double precision."""
    multiply: str
    """Name of the function that multiplies two tensors."""
    settings: tuple[Value, ...] = ()
    """Further arguments of `cast`, after the tensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """Qualified names of functions. Relations that need a missing function do not apply."""

    broadcast: str = ""
    """Name of the function that broadcasts a tensor to a shape."""
    vectorising: Vectorising | None = None
    """Functions for vectorising; None if the library has none."""
    widening: Widening | None = None
    """Functions for double precision; None if the library has none."""
    pickles_results: bool = False
    """True if tensors of every dtype are equal after a round trip through pickle."""
