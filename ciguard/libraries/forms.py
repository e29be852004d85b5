"""Forms of tensors: representations that are not dense and contiguous, such as sparse tensors.

Most kernels are written for dense, contiguous tensors. The code for other representations is
executed, and thus tested, less often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import CallValue, Explicit, TensorValue, Value

TensorMaker: TypeAlias = Callable[[TensorValue], Value]
"""Function from a dense tensor to a value that represents it in another form."""

NUMBERS = frozenset({*element_types.NUMERIC, "bool"})
"""Names of numeric dtypes and bool."""
_ANY_RANK = (0, 5)
_MAX_SIZE = 4096


@dataclass(frozen=True, slots=True)
class TensorForm:
    """One representation of tensors."""

    name: str
    """Name of the form in reports."""
    make: TensorMaker
    """Function from a dense tensor to a value of the same shape in this form."""
    dtypes: frozenset[str] = NUMBERS
    """Dtypes that the form supports."""
    ranks: tuple[int, int] = _ANY_RANK
    """Minimum and maximum number of dimensions."""
    instead_of: str = ""
    """Function that makes the form of which this one is malformed; empty for a valid form."""
    is_composite: bool = False
    """True if the value consists of several tensors, which operators do not take."""

    def fits(self, tensor: TensorValue) -> bool:
        """Return whether a tensor can have this form.

        A tensor with explicit elements cannot, nor can one with a huge size, which would no longer
        be cheap.
        """
        min_rank, max_rank = self.ranks
        return (
            tensor.dtype in self.dtypes
            and min_rank <= len(tensor.shape) <= max_rank
            and max(tensor.shape, default=0) <= _MAX_SIZE
            and not isinstance(tensor.fill, Explicit)
        )


def call_maker(function: str, *arguments: Value) -> TensorMaker:
    """Return a maker that calls `function` with the tensor, followed by `arguments`."""
    return lambda tensor: CallValue(function, (tensor, *arguments))
