"""Preconditions that the documentation of an API states, and random arguments mostly violate.

An exemption leaves the API's results open. Calls that satisfy the precondition are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.values import ArrayValue, Explicit, LiteralValue, TensorValue, Value
from ciguard.oracles.comparing.inputs import element_bounds

if TYPE_CHECKING:
    from ciguard.domain.case import Case

_Precondition: TypeAlias = Callable[[Sequence[Value]], bool]
"""Function of the arguments of a call, which are at least as many as it needs."""

_MIN_BITS = 8
"""Width of the smallest integer."""


def meets_precondition(case: Case) -> bool:
    """Return whether a call satisfies the documented precondition of its API.

    False if no precondition of the API is known.
    """
    for glob, count, holds in _PRECONDITIONS:
        if fnmatchcase(case.api, glob):
            return len(case.values) >= count and holds(case.values)
    return False


def _bounds(value: Value) -> tuple[float, float]:
    """Return the minimum and the maximum of a number or a tensor's elements; NaN for others."""
    match value:
        case LiteralValue(bool() | int() | float() as number):
            return number, number
        case ArrayValue(fill=fill) | TensorValue(fill=fill):
            return element_bounds(fill)
        case _:
            return math.nan, math.nan


def _is_rising(value: Value) -> bool:
    match value:
        case (
            ArrayValue(shape=(_,), fill=Explicit(data))
            | TensorValue(shape=(_,), fill=Explicit(data))
        ):
            return all(before < after for before, after in pairwise(data))
        case _:
            return False


def _is_within(value: Value, minimum: float, maximum: float) -> bool:
    low, high = _bounds(value)
    return minimum <= low and high <= maximum


def _limits_are_in_order(arguments: Sequence[Value]) -> bool:
    _, lower, upper, *_ = arguments
    return _bounds(lower)[1] <= _bounds(upper)[0]


def _is_sorted(arguments: Sequence[Value]) -> bool:
    """Return whether no argument is False, as `sorted` is the only flag."""
    return all(not isinstance(one, LiteralValue) or one.value is not False for one in arguments)


_PRECONDITIONS: tuple[tuple[str, int, _Precondition], ...] = (
    ("keras.ops.*_shift", 2, lambda arguments: _is_within(arguments[1], 0, _MIN_BITS - 2)),
    ("keras.ops.clip", 3, _limits_are_in_order),
    ("keras.ops.image.hsv_to_rgb", 1, lambda arguments: _is_within(arguments[0], 0, 1)),
    ("keras.ops.image.rgb_to_hsv", 1, lambda arguments: _is_within(arguments[0], 0, 1)),
    ("keras.ops.digitize", 2, lambda arguments: _is_rising(arguments[1])),
    ("keras.ops.searchsorted", 1, lambda arguments: _is_rising(arguments[0])),
    ("keras.ops.top_k", 2, _is_sorted),
)
"""Globs of APIs, the number of required arguments, and the precondition on them."""
