"""The requirements that a specification can state for an argument, and their violations.

A requirement is a constraint that restricts one property. It is checked more leniently than a
constraint from which values are drawn. A range applies to a number, a list of numbers or the
elements of a tensor. A set of types applies to a tensor or a dtype object. An empty string never
violates a requirement, because it often means that the argument is absent.

A value of another kind never violates a requirement: libraries may convert an int to a float, and a
list or a number to a tensor.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, TypeAlias, assert_never

from ciguard.domain import dtypes
from ciguard.domain.values import (
    ArrayValue,
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.values import Dtype, Float, OneOf, Tensor, in_range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.values import Fill, Value

UNLIMITED = sys.maxsize
"""Maximum rank if the number of dimensions has no upper limit."""
_MAX_LISTED = 12

Requirement: TypeAlias = Float | OneOf | Tensor | Dtype
"""Range of numbers, set of strings, range of ranks, or set of element types."""


def interval(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    excludes_low: bool = False,
    excludes_high: bool = False,
) -> Float:
    """Return the requirement that a number lies in a range, whose ends may be excluded."""
    return Float(min=low, max=high, exclude_min=excludes_low, exclude_max=excludes_high)


def choice(texts: Iterable[str]) -> OneOf:
    """Return the requirement that a string is one of `texts`."""
    return OneOf(tuple(map(LiteralValue, texts)))


def ranks(min_rank: int, max_rank: int = UNLIMITED) -> Tensor:
    """Return the requirement that a tensor's rank lies in a range, ends included."""
    return Tensor(dtypes=dtypes.EVERY, ndim=(min_rank, max_rank))


def requirement_in_words(requirement: Requirement) -> str:
    """Return a requirement as words that can follow `is`, such as `at least 0`."""
    match requirement:
        case Float():
            return _range_in_words(requirement)
        case OneOf(values):
            texts = (repr(value.value) for value in values if isinstance(value, LiteralValue))
            return f"one of {_join_names(texts)}"
        case Tensor(ndim=(min_rank, max_rank)):
            if max_rank == UNLIMITED:
                return f"of {min_rank} or more dimensions"
            return (
                f"of {min_rank} to {max_rank} dimensions"
                if min_rank < max_rank
                else f"of {_dimensions_words(min_rank)}"
            )
        case Dtype(names):
            return f"of type {_join_names(names)}"
        case _:
            assert_never(requirement)


def _range_in_words(limits: Float) -> str:
    if limits.max == math.inf:
        return f"{'greater than' if limits.exclude_min else 'at least'} {limits.min:g}"
    if limits.min == -math.inf:
        return f"{'less than' if limits.exclude_max else 'at most'} {limits.max:g}"
    opening, closing = "[("[limits.exclude_min], "])"[limits.exclude_max]
    return f"in {opening}{limits.min:g}, {limits.max:g}{closing}"


def _dimensions_words(rank: int) -> str:
    return f"{rank} dimension{'s' * (rank != 1)}"


def _join_names(names: Iterable[str]) -> str:
    all_names = list(names)
    suffix = f" and {len(all_names) - _MAX_LISTED} more" if len(all_names) > _MAX_LISTED else ""
    return ", ".join(all_names[:_MAX_LISTED]) + suffix


def aspect_of(requirement: Requirement) -> str:
    """Return the property that a requirement restricts, by its name in `Mutation.aspect`."""
    match requirement:
        case Float():
            return "range"
        case OneOf():
            return "member"
        case Tensor():
            return "rank"
        case Dtype():
            return "dtype"
        case _:
            assert_never(requirement)


def violation_in_words(value: Value, requirement: Requirement) -> str:
    """Return text for the part of `value` that violates a requirement; empty if there is none."""
    match requirement, value:
        case Float(), _:
            return _out_of_range_words(value, requirement)
        case OneOf(values), LiteralValue(str() as text):
            return "" if value in values or not text else repr(text)
        case Tensor(ndim=(min_rank, max_rank)), TensorValue(shape=shape) | ArrayValue(shape=shape):
            rank = len(shape)
            return "" if min_rank <= rank <= max_rank else f"a tensor of {_dimensions_words(rank)}"
        case Dtype(names), TensorValue(dtype):
            return "" if dtype in names else f"a tensor of type {dtype}"
        case Dtype(names), DtypeValue(name):
            return "" if name in names else f"the type {name}"
        case _:
            return ""


def _out_of_range_words(value: Value, limits: Float) -> str:
    """Return text for the numbers of a value that are out of range; empty if there are none."""
    match value:
        case LiteralValue():
            number = _number(value)
            return "" if number is None or in_range(number, limits) else f"{number!r}"
        case ListValue(items) | TupleValue(items):
            elements = [number for number in map(_number, items) if number is not None]
            outside = [number for number in elements if not in_range(number, limits)]
            if not outside or len(elements) != len(items):
                return ""
            return f"{elements!r:.80}"
        case TensorValue() | ArrayValue():
            element = _out_of_range_element(value, limits)
            return "" if element is None else f"a tensor with the element {element!r}"
        case _:
            return ""


def _number(value: Value) -> float | None:
    """Return a literal's number; None for a bool or NaN, to which no range applies."""
    match value:
        case LiteralValue(int() | float() as number) if not isinstance(number, bool):
            # `math.isnan` raises an OverflowError for a huge int.
            return None if number != number else number  # noqa: PLR0124 - true for NaN only
        case _:
            return None


def _out_of_range_element(tensor: TensorValue | ArrayValue, limits: Float) -> float | None:
    """Return an element that is out of range for every seed of the fill; None if there is none."""
    if not math.prod(tensor.shape):
        return None
    for element in _known_elements(tensor.fill):
        stored_element = _as_stored(element, tensor.dtype)
        if stored_element is not None and not in_range(stored_element, limits):
            return stored_element
    return None


def _known_elements(fill: Fill) -> tuple[float, ...]:
    """Return the elements of a fill that do not depend on its seed."""
    match fill:
        case Constant(value):
            return (value,)
        case Explicit(data):
            return data
        case Uniform(_, low, high) if low == high:
            return (low,)
        case _:
            return ()


def _as_stored(element: float, dtype: str) -> float | None:
    """Return an element as a dtype stores it; None if the dtype cannot represent it."""
    is_infinite = not isinstance(element, int) and not math.isfinite(element)
    if dtype in dtypes.FLOATING and not is_infinite:
        return element
    if dtype not in dtypes.INTEGERS or is_infinite:
        return None
    lowest, highest = dtypes.integer_range(dtype)
    integer = int(element)
    return integer if lowest <= integer <= highest else None
