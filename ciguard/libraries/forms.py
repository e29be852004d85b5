"""Forms: the same tensor kept another way, as its library can: strided, sparse, quantised, a view.

Most kernels are written for dense tensors whose elements lie side by side. What else a library
accepts as a tensor goes through code that is reached, and tested, less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import CallValue, Explicit, TensorValue, Value

Make: TypeAlias = Callable[[TensorValue], Value]

NUMBERS = frozenset({*element_types.NUMERIC, "bool"})
_ANY_RANK = (0, 5)


@dataclass(frozen=True, slots=True)
class TensorForm:
    """One way of keeping a tensor."""

    name: str
    make: Make
    """From the dense tensor to the value that has its shape in this form."""
    dtypes: frozenset[str] = NUMBERS
    ranks: tuple[int, int] = _ANY_RANK

    def fits(self, tensor: TensorValue) -> bool:
        """Whether the library keeps such a tensor so; explicit elements stay where they are."""
        least, most = self.ranks
        return (
            tensor.dtype in self.dtypes
            and least <= len(tensor.shape) <= most
            and not isinstance(tensor.fill, Explicit)
        )


def through(function: str, *arguments: Value) -> Make:
    """Return what passes a tensor through a function, with arguments behind it."""
    return lambda tensor: CallValue(function, (tensor, *arguments))
