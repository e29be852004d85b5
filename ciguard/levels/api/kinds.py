"""Kinds of parameters and of their arguments, for the table of what a run has drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.value_table import ORDINARY, TENSORS, VALUE_KINDS
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.values import (
    AnyOf,
    Bool,
    Constraint,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Object,
    OneOf,
    Optional,
    String,
    Tensor,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Value

_EXTREME = 2**31 - 1
_LONG_TEXT, _LONG_LIST = 100, 8
_HIGH_RANK = 8


def parameter_kind(constraint: Constraint) -> str:
    """Return the kind of a parameter; empty for kinds without a row."""
    match constraint:
        case Optional(inner):
            return parameter_kind(inner)
        case AnyOf(options):
            return parameter_kind(max(options, key=lambda option: option[0])[1])
        case Tensor():
            return _tensor_kind(constraint)
        case OneOf(values):
            return _member_kind(values[0])
        case List(item=item):
            return "tensors" if isinstance(item, Tensor) else ""
        case _:
            return _SIMPLE_KINDS.get(type(constraint), "")


_SIMPLE_KINDS: Mapping[type, str] = {
    Int: "int",
    Ints: "ints",
    Float: "float",
    Bool: "bool",
    String: "text",
    Dtype: "dtype",
    Object: "object",
}


def _tensor_kind(constraint: Tensor) -> str:
    if constraint.increasing:
        return "offset tensor"
    if constraint.index_of or constraint.axis_of:
        return "index tensor"
    if set(constraint.dtypes) <= set(element_types.INTEGERS):
        return "int tensor"
    return "bool tensor" if set(constraint.dtypes) == {"bool"} else "float tensor"


def _member_kind(value: Value) -> str:
    match value:
        case CallValue():
            return "object"
        case LiteralValue(str()):
            return "text"
        case _:
            return ""


def value_kinds(row: str, constraint: Constraint, value: Value) -> list[str]:
    """Return the kinds of an argument, at least one, among those of its kind of parameter.

    Args:
        row: kind of the parameter, as `parameter_kind` returns it.
        constraint: constraint of the parameter.
        value: the argument.
    """
    kinds = [kind for kind in _kinds(row, constraint, value) if row in VALUE_KINDS[kind]]
    return kinds or [ORDINARY]


def _kinds(row: str, constraint: Constraint, value: Value) -> Iterator[str]:
    match value:
        case LiteralValue(None):
            yield "None"
        case TensorValue() | ArrayValue() if row in TENSORS:
            yield from _tensor_value_kinds(constraint, value)
        case ListValue(items) | TupleValue(items) if row in {"tensors", "ints"}:
            yield from _list_kinds(items)
        case LiteralValue(str() as text) if row == "text":
            yield from ["empty"] * (not text)
            yield from ["too long"] * (len(text) >= _LONG_TEXT)
        case LiteralValue(int() | float() as number) if row in {"int", "float"}:
            yield from _number_kinds([number])
        case CallValue():
            yield "other form"
        case LiteralValue() | DtypeValue() if _is_usual(row, value):
            pass
        case _:
            yield "other structure"


def _is_usual(row: str, value: Value) -> bool:
    is_bool = isinstance(value, LiteralValue) and isinstance(value.value, bool)
    return (row == "bool" and is_bool) or (row == "dtype" and isinstance(value, DtypeValue))


def _list_kinds(items: Sequence[Value]) -> Iterator[str]:
    yield from ["empty"] * (not items)
    yield from ["too long"] * (len(items) >= _LONG_LIST)
    yield from _number_kinds([item.value for item in items if isinstance(item, LiteralValue)])


def _tensor_value_kinds(constraint: Constraint, tensor: TensorValue | ArrayValue) -> Iterator[str]:
    if 0 in tensor.shape:
        yield "empty, huge size" if max(tensor.shape) >= _EXTREME else "empty"
    yield from ["scalar"] * (not tensor.shape)
    yield from ["high rank"] * (len(tensor.shape) > _HIGH_RANK)
    inner = constraint.inner if isinstance(constraint, Optional) else constraint
    yield from ["other dtype"] * (isinstance(inner, Tensor) and tensor.dtype not in inner.dtypes)
    match tensor.fill:
        case Special():
            yield from ("NaN, infinite", "extreme", "negative")
        case Constant(number):
            yield from _number_kinds([number])
        case Explicit(numbers):
            yield from _number_kinds(numbers)
            yield from ["decreasing"] * _is_decreasing(numbers)
        case Uniform():
            pass


def _is_decreasing(numbers: Sequence[float]) -> bool:
    is_lower_at_end = len(numbers) > 1 and numbers[0] > numbers[-1]
    return is_lower_at_end and list(numbers) == sorted(numbers, reverse=True)


def _number_kinds(numbers: Sequence[object]) -> Iterator[str]:
    real = [n for n in numbers if isinstance(n, int | float)]
    finite = [n for n in real if isinstance(n, int) or math.isfinite(n)]
    yield from ["NaN, infinite"] * (len(finite) < len(real))
    yield from ["extreme"] * any(abs(number) >= _EXTREME for number in finite)
    yield from ["negative"] * any(number < 0 for number in finite)
