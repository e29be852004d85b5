"""Limits: every value that differs from a given one in one aspect that is at a limit.

A library that checks too little mostly crashes in a call that it would accept but for one such
value. Random mutations repeat some of these changes and miss others.
"""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING

from ciguard.domain.values import ArrayValue, Constant, LiteralValue, TensorValue, Value
from ciguard.values.changes.alternatives import at_limits, joint_sizes, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LARGEST_INT32, _SMALLEST_INT32 = 2**31 - 1, -(2**31)
_HUGE_SIZES = (2**31, 2**59)
"""Sizes that no signed integer of 32 bits can hold. numpy makes no array of a larger size, although
it has no elements, if 64 bits cannot hold the product with the other sizes and the element's."""
_MAX_CHANGED_AXES = 4


def limits(
    values: Mapping[str, Value], others: Mapping[str, Value]
) -> Iterator[Iterator[dict[str, Value]]]:
    """Yield the changes of a call's arguments to limits, by argument, each as all arguments.

    Args:
        values: the arguments by parameter.
        others: possible arguments of further parameters, whose changes are added.
    """
    yield joint_sizes(values)
    for name, value in {**values, **others}.items():
        yield replaced(values, name, chain(at_limits(value), beyond_int32(value)))


def beyond_int32(value: Value) -> Iterator[Value]:
    """Yield values of the same kind with a number at an end of 32 bits, or beyond it.

    A tensor with a huge dimension has no elements, so that it is cheap.
    """
    match value:
        case TensorValue() | ArrayValue():
            yield from _huge(value)
            if value.dtype == "int64":
                yield type(value)(value.dtype, value.shape, Constant(_LARGEST_INT32))
        case LiteralValue(bool()):
            return
        case LiteralValue(int()):
            yield from map(LiteralValue, (_LARGEST_INT32, _SMALLEST_INT32))
        case _:
            return


def _huge(tensor: TensorValue | ArrayValue) -> Iterator[Value]:
    """Yield the tensor with one huge dimension, while the others are empty."""
    rank = len(tensor.shape)
    if rank > 1:
        for size, huge_axis in product(_HUGE_SIZES, range(min(rank, _MAX_CHANGED_AXES))):
            shape = tuple([size if axis == huge_axis else 0 for axis in range(rank)])
            yield type(tensor)(tensor.dtype, shape, Constant(1))
