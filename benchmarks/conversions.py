"""Conversions of Python numbers and lists to tensors, as libraries do them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    Constant,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.values import Value

_MAX_INT32 = 2**31 - 1
_MAX_FLOAT32 = 3.4028235e38
_FLOATING = (*element_types.FLOATING, "complex64", "complex128")
_NUMBERS = element_types.NUMERIC
_POSSIBLE_DTYPES = {
    "int32": _NUMBERS,
    "int64": _NUMBERS,
    "float32": _FLOATING,
    "huge": ("float16", "float64", "complex128"),
    "bool": ("bool", "int32", "int64", "uint64", "float16", "float32", "float64", "complex128"),
    "string": ("string",),
}
"""Dtypes to which numbers are converted, by the dtype that they get where none is required.

Floats beyond those of float32 are `huge`: they are refused where none is required.
Source: `ConvertOne…` and `IsCompatible` of TensorFlow's `py_seq_tensor.cc` and `pywrap_tensor.cc`.
"""


def conversions(value: Value, required: Iterable[str] = ()) -> Iterator[TensorValue]:
    """Yield the tensors that a library may make of a number or a list, the usual one last.

    Args:
        value: the argument; nothing is yielded for a tensor and for what is no number or list.
        required: dtypes that the operator or other arguments require.
    """
    nested = None if isinstance(value, TensorValue) else _nested(value)
    usual_dtype = _common_dtype(nested.leaves) if nested else ""
    if nested is None or not usual_dtype:
        return
    possible = _possible_dtypes(nested)
    numbers = [leaf.value for leaf in nested.leaves if isinstance(leaf, LiteralValue)]
    elements = tuple(number for number in numbers if isinstance(number, int | float))
    has_elements = elements and len(elements) == len(nested.leaves)
    fill = Explicit(elements) if has_elements else Constant(0)
    usual = () if usual_dtype == "huge" else (usual_dtype,)
    for dtype in (*(dtype for dtype in required if dtype in possible), *usual):
        yield TensorValue(dtype, nested.shape, fill)


def _possible_dtypes(nested: _Nested) -> tuple[str, ...]:
    """Return the dtypes of tensors that can be made of numbers."""
    if any(isinstance(leaf, TensorValue) for leaf in nested.leaves):
        return ()
    return _POSSIBLE_DTYPES.get(_common_dtype(nested.leaves), ()) if nested.leaves else _NUMBERS


def numbers_of(value: Value) -> tuple[Value, ...]:
    """Return numbers that a tensor without dimensions stands for."""
    dtype = value.dtype if isinstance(value, TensorValue) else ""
    if dtype in element_types.INTEGERS:
        return (LiteralValue(0), LiteralValue(1))
    return (LiteralValue(0.5),) if dtype in element_types.FLOATING else (value,)


@dataclass(frozen=True, slots=True)
class _Nested:
    """Nested lists of equal lengths."""

    shape: tuple[int, ...]
    leaves: tuple[LiteralValue | TensorValue, ...]


def _nested(value: Value) -> _Nested | None:
    """Return the items of nested lists; None if their lengths differ or one cannot be converted."""
    match value:
        case ListValue(items) | TupleValue(items):
            parts = [part for part in map(_nested, items) if part is not None]
            if len(parts) != len(items) or len({part.shape for part in parts}) > 1:
                return None
            inner = parts[0].shape if parts else ()
            leaves = tuple(leaf for part in parts for leaf in part.leaves)
            return _Nested((len(parts), *inner), leaves)
        case LiteralValue(bool() | int() | float() | str()):
            return _Nested((), (value,))
        case TensorValue():
            return _Nested(value.shape, (value,))
        case _:
            return None


def _common_dtype(leaves: tuple[LiteralValue | TensorValue, ...]) -> str:
    """Return the dtype of the tensor that is made of items; empty if they do not agree."""
    if not leaves:
        return "float32"
    names = set(map(_dtype_of, leaves))
    if names == {"int32", "int64"}:
        return "int64"
    if names == {"float32", "huge"}:
        return "huge"
    return names.pop() if len(names) == 1 else ""


def _dtype_of(leaf: LiteralValue | TensorValue) -> str:
    match leaf:
        case TensorValue():
            return leaf.dtype
        case LiteralValue(bool()):
            return "bool"
        case LiteralValue(int(number)):
            return "int32" if -_MAX_INT32 <= number <= _MAX_INT32 else "int64"
        case LiteralValue(str()):
            return "string"
        case LiteralValue(float(number)) if _MAX_FLOAT32 < abs(number) < math.inf:
            return "huge"
        case _:
            return "float32"
