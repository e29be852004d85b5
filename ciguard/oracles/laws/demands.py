"""What a law can demand of one argument, as constraints, and whether a value breaks it.

A demand is a constraint of one aspect. It is judged more mildly than a constraint that values are
drawn from: a range is broken by a number, a list of numbers or a tensor's elements, types by a
tensor or a dtype object, texts by no empty one, which often stands for none given. A value of
another kind than the demand is about breaks nothing: libraries convert an int to a float, a list or
a number to a tensor, and nobody calls that a defect.
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
"""Dimensions of a tensor that may have any number of them."""
_MAX_LISTED = 12

Demand: TypeAlias = Float | OneOf | Tensor | Dtype
"""A range of numbers, some texts, numbers of dimensions, or types of elements."""


def interval(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    excludes_low: bool = False,
    excludes_high: bool = False,
) -> Float:
    """Return the demand that numbers lie between two ends."""
    return Float(min=low, max=high, exclude_min=excludes_low, exclude_max=excludes_high)


def choice(texts: Iterable[str]) -> OneOf:
    """Return the demand that a text is one of some."""
    return OneOf(tuple(map(LiteralValue, texts)))


def ranks(least: int, most: int = UNLIMITED) -> Tensor:
    """Return the demand that a tensor has so many dimensions."""
    return Tensor(dtypes=dtypes.EVERY, ndim=(least, most))


def demand_in_words(demand: Demand) -> str:
    """Return what is demanded, in words that follow `is`."""
    match demand:
        case Float():
            return _range_in_words(demand)
        case OneOf(values):
            texts = (repr(value.value) for value in values if isinstance(value, LiteralValue))
            return f"one of {_listed(texts)}"
        case Tensor(ndim=(least, most)):
            if most == UNLIMITED:
                return f"of {least} or more dimensions"
            return (
                f"of {least} to {most} dimensions" if least < most else f"of {_dimensions(least)}"
            )
        case Dtype(names):
            return f"of type {_listed(names)}"
        case _:
            assert_never(demand)


def _range_in_words(numbers: Float) -> str:
    if numbers.max == math.inf:
        return f"{'greater than' if numbers.exclude_min else 'at least'} {numbers.min:g}"
    if numbers.min == -math.inf:
        return f"{'less than' if numbers.exclude_max else 'at most'} {numbers.max:g}"
    opening, closing = "[("[numbers.exclude_min], "])"[numbers.exclude_max]
    return f"in {opening}{numbers.min:g}, {numbers.max:g}{closing}"


def _dimensions(rank: int) -> str:
    return f"{rank} dimension{'s' * (rank != 1)}"


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
    return ", ".join(known[:_MAX_LISTED]) + more


def aspect_of(demand: Demand) -> str:
    """Return which side of a value a demand is about, as mutations name it."""
    match demand:
        case Float():
            return "range"
        case OneOf():
            return "member"
        case Tensor():
            return "rank"
        case Dtype():
            return "dtype"
        case _:
            assert_never(demand)


def breach(value: Value, demand: Demand) -> str:
    """Return what of `value` breaks `demand`, in words that follow `is`; empty if nothing does."""
    match demand, value:
        case Float(), _:
            return _out_of_range(value, demand)
        case OneOf(values), LiteralValue(str() as text):
            return "" if value in values or not text else repr(text)
        case Tensor(ndim=(least, most)), TensorValue(shape=shape) | ArrayValue(shape=shape):
            rank = len(shape)
            return "" if least <= rank <= most else f"a tensor of {_dimensions(rank)}"
        case Dtype(names), TensorValue(dtype):
            return "" if dtype in names else f"a tensor of type {dtype}"
        case Dtype(names), DtypeValue(name):
            return "" if name in names else f"the type {name}"
        case _:
            return ""


def _out_of_range(value: Value, numbers: Float) -> str:
    match value:
        case LiteralValue():
            number = _number(value)
            return "" if number is None or in_range(number, numbers) else f"{number!r}"
        case ListValue(items) | TupleValue(items):
            given = [number for number in map(_number, items) if number is not None]
            outside = [number for number in given if not in_range(number, numbers)]
            if not outside or len(given) != len(items):
                return ""
            return f"{given!r:.80}"
        case TensorValue() | ArrayValue():
            element = _surely_outside(value, numbers)
            return "" if element is None else f"a tensor with the element {element!r}"
        case _:
            return ""


def _number(value: Value) -> float | None:
    """Return the number a literal is; None for a bool and for NaN, which is beside any range."""
    match value:
        case LiteralValue(int() | float() as number) if not isinstance(number, bool):
            return None if number != number else number  # noqa: PLR0124 - an int may be huge
        case _:
            return None


def _surely_outside(tensor: TensorValue | ArrayValue, numbers: Float) -> float | None:
    """Return an element that is outside whatever the fill's seed is and that the type can hold."""
    if not math.prod(tensor.shape):
        return None
    for element in _sure_elements(tensor.fill):
        held = _held(element, tensor.dtype)
        if held is not None and not in_range(held, numbers):
            return held
    return None


def _sure_elements(fill: Fill) -> tuple[float, ...]:
    match fill:
        case Constant(value):
            return (value,)
        case Explicit(data):
            return data
        case Uniform(_, low, high) if low == high:
            return (low,)
        case _:
            return ()


def _held(element: float, dtype: str) -> float | None:
    """Return an element as a type holds it; None where it is cast to something else."""
    is_endless = not isinstance(element, int) and not math.isfinite(element)
    if dtype in dtypes.FLOATING and not is_endless:
        return element
    if dtype not in dtypes.INTEGERS or is_endless:
        return None
    least, greatest = dtypes.integer_range(dtype)
    whole = int(element)
    return whole if least <= whole <= greatest else None
