"""A mutation turns one conforming argument into one that is not, or only just, acceptable."""

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
"""Given the conforming value, returns the mutated one. The scope holds the other arguments."""

AnyTensor: TypeAlias = TensorValue | ArrayValue


@dataclass(frozen=True, slots=True)
class Mutation:
    """One way to break or to stretch a constraint."""

    aspect: str
    """What it touches: dtype, rank, size, structure, range, length, member, none, …"""
    mutate: Mutator
    weight: int = 1
    """How often it is drawn, against the others of the same constraint."""


def constant(value: Value) -> Mutator:
    """Return a mutator that ignores the conforming value."""
    return lambda rng, scope, current: value  # noqa: ARG005 - every mutator has one form


def any_constant(values: tuple[Value, ...]) -> Mutator:
    """Return a mutator that draws one of `values`."""
    count = len(values)
    return lambda rng, scope, current: values[int(rng.random() * count)]  # noqa: ARG005 - as above


def reshaped(tensor: AnyTensor, shape: tuple[int, ...]) -> AnyTensor:
    """Return the tensor with another shape; explicit elements are repeated or cut to fit."""
    fill: Fill = tensor.fill
    if isinstance(fill, Explicit):
        count = prod(shape)
        data = fill.data or (0,)
        fill = Explicit((data * (count // len(data) + 1))[:count])
    return type(tensor)(tensor.dtype, shape, fill)  # `replace` takes five times as long


def with_element(tensor: AnyTensor, place: int, element: float) -> AnyTensor:
    """Return the tensor with one element replaced, the others as near as explicit data comes.

    The others are small whole numbers from the fill's range: the exact elements of a seeded fill
    are known to the worker only.
    """
    fill = tensor.fill
    count = prod(tensor.shape)
    match fill:
        case Explicit(data):
            elements = list(data)
        case Uniform(seed, low, high):
            span = max(int(high) - int(low), 0) + 1
            elements = [int(low) + (seed + 7 * nth) % span for nth in range(count)]
        case _:
            elements = [0] * count
    elements[place % count] = element
    return replace(tensor, fill=Explicit(tuple(elements)))


_SPECIAL = (math.nan, math.nan, math.inf, -math.inf)
_MAX_SPELT_OUT = 64
_STEPS = 64


def takes_special(value: Value | None) -> TypeGuard[AnyTensor]:
    """Return whether NaN can stand among the elements of a value, which are few and known."""
    return (
        isinstance(value, AnyTensor)
        and value.dtype in element_types.FLOATING
        and not isinstance(value.fill, Special)
        and 0 < prod(value.shape) <= _MAX_SPELT_OUT
    )


def with_special(rng: random.Random, tensor: AnyTensor) -> AnyTensor:
    """Return a tensor with NaN or an infinity at one place, the rest from the fill's range."""
    count = prod(tensor.shape)
    match tensor.fill:
        case Uniform(_, low, high):
            step = (high - low) / _STEPS
            data = [low + step * int(1 + rng.random() * (_STEPS - 1)) for _ in range(count)]
        case Explicit(given):
            data = list(given)
        case Constant(number):
            data = [number] * count
        case Special():
            return tensor
        case _:
            assert_never(tensor.fill)
    data[int(rng.random() * count)] = _SPECIAL[int(rng.random() * len(_SPECIAL))]
    return replace(tensor, fill=Explicit(tuple(data)))
