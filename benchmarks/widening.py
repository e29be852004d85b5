"""Constraints that exclude only what a source states, made of those that values are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from math import ceil, floor

from ciguard.domain import dtypes as element_types
from ciguard.values import (
    AnyOf,
    Constraint,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Optional,
    String,
    Tensor,
)

PLAIN_DTYPES = tuple(name for name in element_types.EVERY if name != "string")
USUAL_RANKS = (0, 5)
ANY_RANK, ANY_LENGTH = (0, 64), (0, 1 << 20)
_MAX_INT = 2**63 - 1
_MAX_FLOAT = 1.79e308


@dataclass(frozen=True, slots=True)
class Stated:
    """What is stated of a parameter."""

    aspects: frozenset[str]
    """Aspects that some source states, of `ciguard.knowledge.merge.ASPECTS`."""
    lacks: frozenset[str]
    """Dtypes that the target does not support."""


@singledispatch
def widened(constraint: Constraint, stated: Stated) -> Constraint:
    """Return a constraint that excludes only what is stated."""
    del stated
    return constraint


@widened.register(Tensor)
def _(constraint: Tensor, stated: Stated) -> Constraint:
    if "dtypes" not in stated.aspects:
        supported = tuple(name for name in PLAIN_DTYPES if name not in stated.lacks)
        constraint = replace(constraint, dtypes=supported, dtype_of="")
    if "shape" not in stated.aspects:
        constraint = replace(constraint, shape=None, ndim=ANY_RANK)
    elif constraint.shape is None and constraint.ndim[1] == USUAL_RANKS[1]:
        constraint = replace(constraint, ndim=(constraint.ndim[0], ANY_RANK[1]))
    return constraint if "range" in stated.aspects else replace(constraint, low=None, high=None)


@widened.register(Int)
def _(constraint: Int, stated: Stated) -> Constraint:
    if "range" in stated.aspects or constraint.axis_of:
        return constraint
    return replace(constraint, min=-_MAX_INT - 1, max=_MAX_INT)


@widened.register(Float)
def _(constraint: Float, stated: Stated) -> Constraint:
    """Return the constraint of a float, for which Python accepts an int (PEP 484)."""
    if "range" in stated.aspects:
        floats = replace(constraint, nan=True, inf=True)
        return AnyOf(((1.0, floats), (1.0, Int(min=ceil(floats.min), max=floor(floats.max)))))
    floats = Float(min=-_MAX_FLOAT, max=_MAX_FLOAT, nan=True, inf=True)
    return AnyOf(((1.0, floats), (1.0, Int(min=-_MAX_INT - 1, max=_MAX_INT))))


@widened.register(Ints)
def _(constraint: Ints, stated: Stated) -> Constraint:
    if "range" not in stated.aspects:
        constraint = replace(constraint, min=-_MAX_INT - 1, max=_MAX_INT)
    return replace(constraint, length=_length(constraint.length, stated))


@widened.register(List)
def _(constraint: List, stated: Stated) -> Constraint:
    item = widened(constraint.item, stated)
    length = _length(constraint.length, stated)
    return replace(constraint, item=item, length=length, uniform=False)


def _length(length: tuple[int, int], stated: Stated) -> tuple[int, int]:
    """Return the stated lengths of a list; sources state an exact length or a minimum."""
    if "length" not in stated.aspects:
        return ANY_LENGTH
    minimum, maximum = length
    return length if minimum == maximum else (minimum, ANY_LENGTH[1])


@widened.register(String)
def _(constraint: String, stated: Stated) -> Constraint:
    del stated
    return replace(constraint, max_length=ANY_LENGTH[1])


@widened.register(Dtype)
def _(constraint: Dtype, stated: Stated) -> Constraint:
    return constraint if "dtypes" in stated.aspects else Dtype(element_types.EVERY)


@widened.register(Optional)
def _(constraint: Optional, stated: Stated) -> Constraint:
    return replace(constraint, inner=widened(constraint.inner, stated))


@widened.register(AnyOf)
def _(constraint: AnyOf, stated: Stated) -> Constraint:
    options = tuple((weight, widened(option, stated)) for weight, option in constraint.options)
    return AnyOf(options)
