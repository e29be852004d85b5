"""What a law can demand of one argument, and whether a value breaks it.

A value of another kind than the demand speaks of breaks nothing: libraries convert an int to a
float, a list or a number to a tensor, and nobody calls that a defect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.values import Fill, Value

_MAX_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberInterval:
    """A number, every number of a list, or every element of a tensor lies between two ends."""

    low: float = -math.inf
    high: float = math.inf
    excludes_low: bool = False
    excludes_high: bool = False

    def holds(self, number: float) -> bool:
        """Whether a number lies in it."""
        above = number > self.low if self.excludes_low else number >= self.low
        below = number < self.high if self.excludes_high else number <= self.high
        return above and below

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"{'greater than' if self.excludes_low else 'at least'} {self.low:g}"
        if self.low == -math.inf:
            return f"{'less than' if self.excludes_high else 'at most'} {self.high:g}"
        opening, closing = "[("[self.excludes_low], "])"[self.excludes_high]
        return f"in {opening}{self.low:g}, {self.high:g}{closing}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A string is one of these. An empty one breaks nothing: it often stands for none given."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        return f"one of {_listed(map(repr, self.texts))}"


@dataclass(frozen=True, slots=True)
class Ranks:
    """A tensor has one of these numbers of dimensions; None ends an open range."""

    least: int
    most: int | None

    def holds(self, rank: int) -> bool:
        """Whether it is one of them."""
        return self.least <= rank and (self.most is None or rank <= self.most)

    def __str__(self) -> str:
        if self.most is None:
            return f"of {self.least} or more dimensions"
        if self.least == self.most:
            return f"of {self.least} dimension{'s' * (self.least != 1)}"
        return f"of {self.least} to {self.most} dimensions"


@dataclass(frozen=True, slots=True)
class ElementTypes:
    """A tensor's elements, or a dtype object, are of one of these types."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"of type {_listed(self.names)}"


Demand: TypeAlias = NumberInterval | Choice | Ranks | ElementTypes


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
    return ", ".join(known[:_MAX_LISTED]) + more


def aspect_of(demand: Demand) -> str:
    """Return which side of a value a demand is about, as mutations name it."""
    match demand:
        case NumberInterval():
            return "range"
        case Choice():
            return "member"
        case Ranks():
            return "rank"
        case ElementTypes():
            return "dtype"
        case _:
            assert_never(demand)


def breach(value: Value, demand: Demand) -> str:
    """Return what of `value` breaks `demand`, in words that follow `is`; empty if nothing does."""
    match demand, value:
        case NumberInterval(), _:
            return _out_of_range(value, demand)
        case Choice(texts), LiteralValue(str() as text):
            return "" if text in texts or not text else repr(text)
        case Ranks(), TensorValue() | ArrayValue():
            rank = len(value.shape)
            return "" if demand.holds(rank) else f"a tensor of {rank} dimension{'s' * (rank != 1)}"
        case ElementTypes(names), TensorValue(dtype):
            return "" if dtype in names else f"a tensor of type {dtype}"
        case ElementTypes(names), DtypeValue(name):
            return "" if name in names else f"the type {name}"
        case _:
            return ""


def _out_of_range(value: Value, interval: NumberInterval) -> str:
    match value:
        case LiteralValue():
            number = _number(value)
            return "" if number is None or interval.holds(number) else f"{number!r}"
        case ListValue(items) | TupleValue(items):
            numbers = [number for number in map(_number, items) if number is not None]
            outside = [number for number in numbers if not interval.holds(number)]
            if not outside or len(numbers) != len(items):
                return ""
            return f"{numbers!r:.80}"
        case TensorValue() | ArrayValue():
            element = _surely_outside(value, interval)
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


def _surely_outside(tensor: TensorValue | ArrayValue, interval: NumberInterval) -> float | None:
    """Return an element that is outside whatever the fill's seed is and that the type can hold."""
    if not math.prod(tensor.shape):
        return None
    for element in _sure_elements(tensor.fill):
        held = _held(element, tensor.dtype)
        if held is not None and not interval.holds(held):
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
