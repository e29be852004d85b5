"""Conversions of Python numbers and lists to tensors, as libraries do them."""

from __future__ import annotations

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
_FLOATING = (*element_types.FLOATING, "complex64", "complex128")
_NUMBERS = element_types.NUMERIC
_POSSIBLE_DTYPES = {
    "int32": _NUMBERS,
    "int64": _NUMBERS,
    "float32": _FLOATING,
    "bool": ("bool", *_NUMBERS),
    "string": ("string",),
}
"""Dtypes to which numbers are converted, by the dtype that they get where none is required."""


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
    for dtype in (*(dtype for dtype in required if dtype in possible), usual_dtype):
        yield TensorValue(dtype, nested.shape, fill)


def _possible_dtypes(nested: _Nested) -> tuple[str, ...]:
    """Return the dtypes of tensors that can be made of numbers."""
    names = set(map(_dtype_of, nested.leaves))
    if any(isinstance(leaf, TensorValue) for leaf in nested.leaves) or len(names) > 1:
        return ()
    return _POSSIBLE_DTYPES[names.pop()] if names else _NUMBERS


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
        case _:
            return "float32"
