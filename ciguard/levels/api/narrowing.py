"""Calls with dtypes of at most 32 bits, since JAX has no others by default."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DtypeValue,
    Explicit,
    Fill,
    ListValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall

_NARROW_DTYPES = {
    "float64": "float32",
    "int64": "int32",
    "uint64": "uint32",
    "complex128": "complex64",
}
_MAX_FLOAT32 = float.fromhex("0x1.fffffep+127")


def narrowed(call: ApiCall) -> ApiCall:
    """Return the call with dtypes of at most 32 bits, and with elements that these can hold.

    An element beyond the range becomes the nearest one within it: workers would wrap an integer,
    and oracles would judge the call by a number that its tensor does not hold.
    """
    return replace(
        call,
        arguments=tuple(map(_narrow, call.arguments)),
        keywords=tuple([(name, _narrow(value)) for name, value in call.keywords]),
        inputs=tuple(map(_narrow, call.inputs)),
    )


def _narrow(value: Value) -> Value:
    match value:
        case TensorValue(dtype, shape, fill) | ArrayValue(dtype, shape, fill):
            if dtype not in _NARROW_DTYPES:
                return value
            narrow = _NARROW_DTYPES[dtype]
            return type(value)(narrow, shape, _within_range(fill, narrow))
        case DtypeValue(name):
            return DtypeValue(_NARROW_DTYPES.get(name, name))
        case ListValue(items) | TupleValue(items):
            return type(value)(tuple(map(_narrow, items)))
        case CallValue():
            return replace(value, arguments=tuple(map(_narrow, value.arguments)))
        case _:
            return value


def _within_range(fill: Fill, dtype: str) -> Fill:
    """Return the fill with each finite element within the range of a dtype."""
    low, high = (
        dtypes.integer_range(dtype) if dtype in dtypes.INTEGERS else (-_MAX_FLOAT32, _MAX_FLOAT32)
    )

    def clamp(number: float) -> float:
        is_finite = isinstance(number, int) or math.isfinite(number)
        return min(max(number, low), high) if is_finite else number

    match fill:
        case Constant(number):
            return Constant(clamp(number))
        case Uniform(seed, lowest, highest):
            return Uniform(seed, clamp(lowest), clamp(highest))
        case Explicit(data):
            return Explicit(tuple(map(clamp, data)))
        case _:
            return fill
