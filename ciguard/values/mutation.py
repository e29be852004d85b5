"""Mutations, which change a conforming argument to an invalid value or a boundary value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, assert_never

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    Constant,
    Explicit,
    Special,
    TensorValue,
    Uniform,
    Value,
)

if TYPE_CHECKING:
    import random

    from ciguard.domain.values import Fill
    from ciguard.values.scope import SamplingScope

Mutator: TypeAlias = Callable[["random.Random", "SamplingScope", Value], Value]
"""Function that returns a mutation of a conforming value; the scope holds the other arguments."""

AnyTensor: TypeAlias = TensorValue | ArrayValue


@dataclass(frozen=True, slots=True)
class Mutation:
    """One way to violate a constraint or to reach its boundary."""

    aspect: str
    """Property that is mutated: dtype, rank, size, structure, range, length, member, none, …"""
    mutate: Mutator
    weight: int = 1
    """Frequency relative to the other mutations of the constraint."""


def constant(value: Value) -> Mutator:
    """Return a mutator that always returns `value`."""
    return lambda rng, scope, current: value  # noqa: ARG005 - mutators have these parameters


def any_constant(values: tuple[Value, ...]) -> Mutator:
    """Return a mutator that draws one of `values`."""
    count = len(values)
    return lambda rng, scope, current: values[int(rng.random() * count)]  # noqa: ARG005 - as above


_MAX_REPEATED_ELEMENTS = 8192


def reshape(tensor: AnyTensor, shape: tuple[int, ...]) -> AnyTensor:
    """Return the tensor with another shape. Explicit elements are repeated or truncated to fit."""
    fill: Fill = tensor.fill
    if isinstance(fill, Explicit):
        count = prod(shape)
        data = fill.data or (0,)
        is_short = count <= _MAX_REPEATED_ELEMENTS
        fill = (
            Explicit((data * (count // len(data) + 1))[:count]) if is_short else Constant(data[0])
        )
    return type(tensor)(tensor.dtype, shape, fill)  # five times faster than `dataclasses.replace`


def replace_element(tensor: AnyTensor, index: int, element: float) -> AnyTensor:
    """Return the tensor with explicit elements, of which one is `element`.

    The other elements are integers in the fill's range, because only the worker can compute the
    exact elements of a fill with a seed.
    """
    fill = tensor.fill
    count = prod(tensor.shape)
    match fill:
        case Explicit(data):
            elements = list(data)
        case Uniform(seed, low, high):
            span = max(int(high) - int(low), 0) + 1
            elements = [int(low) + (seed + 7 * position) % span for position in range(count)]
        case _:
            elements = [0] * count
    elements[index % count] = element
    return replace(tensor, fill=Explicit(tuple(elements)))


_SPECIAL_NUMBERS = (math.nan, math.nan, math.inf, -math.inf)
_MAX_EXPLICIT_ELEMENTS = 64
_STEPS = 64


def accepts_special_element(value: Value | None) -> TypeGuard[AnyTensor]:
    """Return whether `insert_special_element` can change a value: a small floating-point tensor."""
    return (
        isinstance(value, AnyTensor)
        and value.dtype in element_types.FLOATING
        and not isinstance(value.fill, Special)
        and 0 < prod(value.shape) <= _MAX_EXPLICIT_ELEMENTS
    )


def insert_special(rng: random.Random, values: dict[str, Value]) -> tuple[str, ...]:
    """Put NaN or an infinity into one tensor among the arguments of a call.

    Args:
        rng: source of randomness.
        values: the arguments by parameter, of which one is replaced in place.

    Returns:
        The name of the changed parameter; empty without a tensor that can be changed.
    """
    names = [name for name, value in values.items() if accepts_special_element(value)]
    if not names:
        return ()
    name = names[int(rng.random() * len(names))]
    value = values[name]
    if accepts_special_element(value):
        values[name] = insert_special_element(rng, value)
    return (name,)


def insert_special_element(rng: random.Random, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with explicit elements: one is NaN or infinite, the others are in range.

    The range is that of the tensor's fill.
    """
    count = prod(tensor.shape)
    match tensor.fill:
        case Uniform(_, low, high):
            step = (high - low) / _STEPS
            data = [low + step * int(1 + rng.random() * (_STEPS - 1)) for _ in range(count)]
        case Explicit(elements):
            data = list(elements)
        case Constant(number):
            data = [number] * count
        case Special():
            return tensor
        case _:
            assert_never(tensor.fill)
    data[int(rng.random() * count)] = _SPECIAL_NUMBERS[int(rng.random() * len(_SPECIAL_NUMBERS))]
    return replace(tensor, fill=Explicit(tuple(data)))
