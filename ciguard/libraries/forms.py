"""Forms of a tensor: other representations of the same shape, such as strided, sparse or quantised.

Most kernels are written for dense, contiguous tensors. Other representations go through code that
is executed, and thus tested, less often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import CallValue, Explicit, TensorValue, Value

Make: TypeAlias = Callable[[TensorValue], Value]
"""Function from a dense tensor to a value that represents it in another form."""

NUMBERS = frozenset({*element_types.NUMERIC, "bool"})
"""Names of numeric dtypes and bool."""
_ANY_RANK = (0, 5)


@dataclass(frozen=True, slots=True)
class TensorForm:
    """One representation of tensors."""

    name: str
    """Name of the form in reports."""
    make: Make
    """Function from a dense tensor to a value of the same shape in this form."""
    dtypes: frozenset[str] = NUMBERS
    """Dtypes that the form supports."""
    ranks: tuple[int, int] = _ANY_RANK
    """Minimum and maximum number of dimensions."""

    def fits(self, tensor: TensorValue) -> bool:
        """Return whether a tensor has this form; a tensor with explicit elements has no form."""
        min_rank, max_rank = self.ranks
        return (
            tensor.dtype in self.dtypes
            and min_rank <= len(tensor.shape) <= max_rank
            and not isinstance(tensor.fill, Explicit)
        )


def through(function: str, *arguments: Value) -> Make:
    """Return a maker that calls a function with the tensor, followed by `arguments`."""
    return lambda tensor: CallValue(function, (tensor, *arguments))
