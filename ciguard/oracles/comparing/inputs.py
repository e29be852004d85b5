"""Properties of a case's inputs: their elements, sizes, and the precision that they allow."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.oracles.comparing.tolerance import InputPrecision, inputs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.values import Fill, Value

MAX_EXACT_INTEGER = 2**24
"""Largest integer up to which single precision represents all integers."""
LARGE_NUMBER = 100_000
"""Minimum size or count that may be meant to take long."""


def has_special_elements(case: Case) -> bool:
    """Return whether the arguments hold NaN, infinities or the extreme values of a type."""
    return any(map(_is_special_value, leaf_values(case)))


def has_large_integers(case: Case) -> bool:
    """Return whether a tensor holds integers that single precision does not represent exactly."""
    return any(
        max(map(abs, element_bounds(leaf.fill))) > MAX_EXACT_INTEGER
        for leaf in leaf_values(case)
        if isinstance(leaf, ArrayValue | TensorValue) and leaf.dtype in dtypes.INTEGERS
    )


def may_overflow(case: Case) -> bool:
    """Return whether numbers in the arguments may leave the range of a type.

    Results are undefined then: of large numbers, of NaN or infinity in a tensor, and of infinity
    where it may be converted to an integer.
    """
    leaves = [*leaf_values(case)]
    has_integers = any(
        isinstance(leaf, ArrayValue | TensorValue | DtypeValue) and _dtype(leaf) in dtypes.INTEGERS
        for leaf in leaves
    )
    return any(
        _is_special_fill(leaf.fill) or _has_large_elements(leaf.fill)
        if isinstance(leaf, ArrayValue | TensorValue)
        else _is_large_literal(leaf, has_integers=has_integers)
        for leaf in leaves
    )


def _dtype(value: ArrayValue | TensorValue | DtypeValue) -> str:
    return value.name if isinstance(value, DtypeValue) else value.dtype


def _is_large_literal(value: Value, *, has_integers: bool) -> bool:
    match value:
        case LiteralValue(int() | float() as number) if _is_not_finite(number):
            return has_integers or math.isnan(number)
        case LiteralValue(int() | float() as number):
            return abs(number) >= LARGE_NUMBER
        case _:
            return False


def leaf_values(case: Case) -> Iterator[Value]:
    """Yield the values in the arguments that hold no other values, such as tensors and numbers."""
    parts = [*case.values]
    while parts:
        value = parts.pop()
        match value:
            case ListValue(items) | TupleValue(items):
                parts.extend(items)
            case DictValue(pairs):
                parts.extend(item for _, item in pairs)
            case CallValue(_, arguments, keywords):
                parts.extend([*arguments, *(item for _, item in keywords)])
            case _:
                yield value


def _is_special_value(value: Value) -> bool:
    """Return whether a value holds NaN, infinities or the extreme values of a type."""
    match value:
        case ArrayValue() | TensorValue():
            return _is_special_fill(value.fill)
        case LiteralValue(float() | complex() as number):
            return not cmath.isfinite(number)
        case _:
            return False


def input_precision(
    case: Case, *, ranges: Iterable[tuple[str, float, float]] = (), sizes: Iterable[int] = ()
) -> InputPrecision:
    """Return the precision of a case's inputs, which limits how exact its results can be.

    Args:
        case: the case to analyse.
        ranges: (dtype, minimum, maximum) of each input tensor that is not among `case.values`.
        sizes: number of elements of each of those tensors.
    """
    tensors = [leaf for leaf in leaf_values(case) if isinstance(leaf, (ArrayValue, TensorValue))]
    ranges = [*((tensor.dtype, *element_bounds(tensor.fill)) for tensor in tensors), *ranges]
    sizes = [*(math.prod(tensor.shape) for tensor in tensors), *sizes]
    precision = inputs_of(ranges, sizes=sizes)
    return replace(precision, are_finite=False) if has_special_elements(case) else precision


def element_bounds(fill: Fill) -> tuple[float, float]:
    """Return the minimum and the maximum element of a fill.

    An integer is not converted, because it may be too large for a float.
    """
    match fill:
        case Constant(number):
            return number, number
        case Uniform(_, low, high):
            return low, high
        case Explicit(data) if not _is_special_fill(fill):
            return min(data, default=0), max(data, default=0)
        case Explicit() | Special():
            return -math.inf, math.inf


def _is_special_fill(fill: Fill) -> bool:
    """Return whether a fill holds NaN, infinities or the extreme values of a type."""
    match fill:
        case Special():
            return True
        case Constant(number):
            return _is_not_finite(number)
        case Explicit(data):
            return any(map(_is_not_finite, data))
        case Uniform():
            return False


def _is_not_finite(number: float) -> bool:
    # `math.isfinite` raises an OverflowError for a huge integer.
    return not isinstance(number, int) and not math.isfinite(number)


def is_large_request(case: Case) -> bool:
    """Return whether a number in the inputs is so large that the call may be meant to take long.

    The number may be a Python number, an element of a tensor, or the size of a tensor, because
    elements are often sizes or counts.
    """
    values = [*case.values]
    while values:
        value = values.pop()
        if _is_large_value(value):
            return True
        values.extend(_children(value))
    return False


def _is_large_value(value: Value) -> bool:
    """Return whether a value itself is large, or holds a large number."""
    match value:
        case LiteralValue(int() | float() as number):
            return abs(number) >= LARGE_NUMBER
        case ArrayValue(_, shape, fill) | TensorValue(_, shape, fill):
            return math.prod(shape) >= LARGE_NUMBER or _has_large_elements(fill)
        case ListValue(items) | TupleValue(items):
            return _element_count(items) >= LARGE_NUMBER
        case _:
            return False


def _children(value: Value) -> Sequence[Value]:
    """Return the values that a value directly holds."""
    match value:
        case ListValue(items) | TupleValue(items):
            return items
        case DictValue(pairs):
            return [item for _, item in pairs]
        case CallValue(_, arguments, keywords):
            return [*arguments, *(item for _, item in keywords)]
        case _:
            return ()


def _element_count(items: Sequence[Value]) -> int:
    """Return the product of a list's numbers, as if they were a shape; 0 if they cannot be one."""
    sizes = [item.value for item in items if isinstance(item, LiteralValue)]
    return math.prod(size if isinstance(size, int) and size > 0 else 0 for size in sizes)


def _has_large_elements(fill: Fill) -> bool:
    """Return whether an element of a fill may be a large size or count."""
    match fill:
        case Constant(number):
            return abs(number) >= LARGE_NUMBER
        case Uniform(_, low, high):
            return abs(low) >= LARGE_NUMBER or abs(high) >= LARGE_NUMBER
        case Explicit(data):
            return any(abs(number) >= LARGE_NUMBER for number in data)
        case Special():
            return True
