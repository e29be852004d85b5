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
class Subscripts:
    """Methods that Python calls for `tensor[index]`, which no catalogue lists."""

    read: str
    """Name of the method for `tensor[index]`."""
    assign: str = ""
    """Name of the method for `tensor[index] = value`; empty if tensors are immutable."""
    index_dtype: str = ""
    """Dtype of tensors of indices in an index; empty if the library takes none."""
    takes_negative_steps: bool = True
    """True if slices can have negative steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """Qualified names of functions. Relations that need a missing function do not apply."""

    broadcast: str = ""
    """Name of the function that broadcasts a tensor to a shape."""
    vectorising: Vectorising | None = None
    """Functions for vectorising; None if the library has none."""
    widening: Widening | None = None
    """Functions for double precision; None if the library has none."""
    subscripts: Subscripts | None = None
    """Methods for indexing; None if graphs do not index."""
    pickles_results: bool = False
    """True if tensors of every dtype are equal after a round trip through pickle."""

    def indexes_with(self, api: str) -> bool:
        """Return whether a name is that of a method for indexing."""
        return self.subscripts is not None and api in {
            self.subscripts.read,
            self.subscripts.assign,
        }
