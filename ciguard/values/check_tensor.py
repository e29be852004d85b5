"""Checks of tensors and arrays: whether one conforms to a constraint, and why it does not."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import ArrayValue, Constant, Explicit, Special, TensorValue, Uniform
from ciguard.values.constraints import Array, Between, Dim, Named, RankOf, SizeOf, Tensor

if TYPE_CHECKING:
    from ciguard.domain.values import Fill
    from ciguard.values.scope import SamplingScope


def tensor_problem(
    constraint: Tensor, value: TensorValue | ArrayValue, scope: SamplingScope
) -> str:
    """Return the reason why a tensor does not conform to `constraint`; empty if it conforms.

    `scope` has the meaning of the argument of `check.problem`.
    """
    if isinstance(constraint, Array) != isinstance(value, ArrayValue):
        return "not an array" if isinstance(constraint, Array) else "an array, not a tensor"
    return (
        _dtype_problem(constraint, value.dtype, scope)
        or _shape_problem(constraint, value.shape, scope)
        or _elements_problem(constraint, value, scope)
    )


def _dtype_problem(constraint: Tensor, dtype: str, scope: SamplingScope) -> str:
    """Return why a dtype does not conform; empty if it conforms."""
    if dtype not in constraint.dtypes:
        return f"dtype {dtype} is not allowed"
    expected = scope.dtype(constraint.dtype_of) if constraint.dtype_of else None
    if expected in constraint.dtypes and dtype != expected:
        return f"dtype {dtype} is not {expected}, the dtype of {constraint.dtype_of}"
    return ""


def _shape_problem(constraint: Tensor, shape: tuple[int, ...], scope: SamplingScope) -> str:
    """Return why a shape does not conform; empty if it conforms."""
    if constraint.shape_of:
        expected = scope.shape(constraint.shape_of)
        if expected is not None:
            is_equal = shape == expected
            reason = f"shape {shape} is not {expected}, the shape of {constraint.shape_of}"
            return "" if is_equal else reason
    if constraint.broadcast_with:
        expected = scope.shape(constraint.broadcast_with)
        if expected is not None:
            return _broadcast_problem(shape, expected)
    if constraint.shape is not None:
        return _pattern_problem(constraint.shape, shape, scope)
    minimum, maximum = constraint.ndim
    rank = len(shape)
    is_valid = minimum <= rank <= maximum
    return "" if is_valid else f"rank {rank}, not {bounds_text(minimum, maximum)}"


def bounds_text(minimum: int, maximum: int) -> str:
    """Return a range of ints in words: `3`, or `2 to 3`."""
    return str(minimum) if minimum == maximum else f"{minimum} to {maximum}"


def _broadcast_problem(shape: tuple[int, ...], other: tuple[int, ...]) -> str:
    pairs = zip(reversed(shape), reversed(other), strict=False)
    fits = all(size == other_size or 1 in {size, other_size} for size, other_size in pairs)
    return "" if fits else f"shape {shape} does not broadcast with {other}"


def _pattern_problem(pattern: tuple[Dim, ...], shape: tuple[int, ...], scope: SamplingScope) -> str:
    """Return why a shape does not match the sizes of a constraint; empty if it does."""
    if len(shape) != len(pattern):
        return f"rank {len(shape)}, not {len(pattern)}"
    for axis, (dim, size) in enumerate(zip(pattern, shape, strict=True)):
        if not _fits(dim, size, scope):
            return f"size {size} of dimension {axis} is not {dim}"
    return ""


def _fits(dim: Dim, size: int, scope: SamplingScope) -> bool:
    """Return whether a size fits a dimension of a constraint. New symbols join the scope."""
    match dim:
        case int():
            return size == dim
        case str():
            return scope.sizes.setdefault(dim, size) == size
        case Named(symbol, minimum, maximum):
            bound = scope.sizes.get(symbol)
            if bound is None:
                scope.sizes[symbol] = size
            return minimum <= size <= maximum if bound is None else bound == size
        case RankOf(parameter):
            length = scope.length(parameter)
            return length is None or size == length
        case SizeOf(parameter, axis):
            shape = scope.shape(parameter)
            has_axis = shape is not None and -len(shape) <= axis < len(shape)
            return shape is None or not has_axis or shape[axis] == size
        case Between(minimum, maximum):
            return minimum <= size <= maximum


def _elements_problem(
    constraint: Tensor, value: TensorValue | ArrayValue, scope: SamplingScope
) -> str:
    """Return why the elements of a tensor do not conform; empty if they conform."""
    if prod(value.shape) == 0:
        return ""
    minimum, maximum, special = extent(value.fill)
    low, high = _bounds(constraint, scope, value.dtype)
    if constraint.nan and value.dtype in element_types.FLOATING and special:
        has_range = low is not None or high is not None
        return (
            "infinities, which are out of range"
            if has_range and minimum != maximum and (minimum == float("-inf"))
            else ""
        )
    if special and (low is not None or high is not None):
        return "special values, which are out of range"
    # The elements of a bool tensor are 0 and 1 for any range of the fill.
    is_outside = value.dtype != "bool" and (_outside(low, minimum) or _outside(maximum, high))
    if is_outside:
        return f"elements in [{minimum}, {maximum}], not in [{low}, {high}]"
    return "not increasing" if constraint.increasing and not _is_increasing(value.fill) else ""


def _outside(minimum: float | None, number: float | None) -> bool:
    return minimum is not None and number is not None and number < minimum


def _bounds(
    constraint: Tensor, scope: SamplingScope, dtype: str
) -> tuple[float | None, float | None]:
    """Return the minimum and the maximum that elements may have; None where unbounded."""
    if constraint.axis_of:
        shape = scope.shape(constraint.axis_of)
        if shape is not None:
            maximum = max(len(shape), 1)
            return -maximum, maximum - 1
        return None, None
    if constraint.index_of and dtype not in element_types.FLOATING:
        shape = scope.shape(constraint.index_of)
        if shape:
            return 0, max(shape[0] - 1, 0)
    return constraint.low, constraint.high


def extent(fill: Fill) -> tuple[float, float, bool]:
    """Return the minimum and the maximum element of a fill, and whether it may hold NaN."""
    match fill:
        case Constant(value):
            return value, value, value != value  # noqa: PLR0124 - true for NaN only
        case Uniform(_, low, high):
            return low, high, False
        case Special():
            return float("-inf"), float("inf"), True
        case Explicit(data):
            return min(data), max(data), any(number != number for number in data)  # noqa: PLR0124 - as above


def _is_increasing(fill: Fill) -> bool:
    """Return whether no element of a fill is less than its predecessor."""
    match fill:
        case Constant():
            return True
        case Explicit(data):
            return list(data) == sorted(data)
        case Uniform(_, low, high):
            return low == high
        case Special():
            return False
