"""Drawn values as expressions see them: arrays by shape and dtype, other data as Python values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.functions.in_target.describing.encoding import DTYPE, TENSOR
from ciguard.values import dictionary_items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Opaque:
    """A value that exists only in the target; nothing is known about it."""


OPAQUE = Opaque()


@dataclass(frozen=True, slots=True)
class ObjectView(Opaque):
    """An object with some known attributes; `__len__` is its length."""

    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ArrayView:
    """The properties of an array or tensor that expressions may use."""

    shape: tuple[int, ...]
    dtype: str
    is_tensor: bool

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class DtypeView:
    """A dtype object; equal to any dtype of the same library-independent name."""

    name: str


def view(value: Value) -> Any:
    """Return a drawn value as an operand of expressions."""
    return _VIEWS[type(value)](value)


def _view_of_call(value: CallValue) -> Any:
    match value:
        case CallValue(function, (LiteralValue(), ArrayValue() as array)) if function == TENSOR:
            return ArrayView(array.shape, array.dtype, is_tensor=True)
        case CallValue(function, (LiteralValue(), LiteralValue(name))) if function == DTYPE:
            return DtypeView(str(name))
        case _:
            return _dictionary(value)


_VIEWS: dict[type, Callable[[Any], Any]] = {
    LiteralValue: lambda value: value.value,
    ListValue: lambda value: [view(item) for item in value.items],
    TupleValue: lambda value: tuple([view(item) for item in value.items]),
    ArrayValue: lambda value: ArrayView(value.shape, value.dtype, is_tensor=False),
    TensorValue: lambda value: ArrayView(value.shape, value.dtype, is_tensor=True),
    DtypeValue: lambda value: DtypeView(value.name),
    MemberValue: lambda value: OPAQUE,  # noqa: ARG005 - all readers share one signature
    DictValue: lambda value: _dictionary(value),  # noqa: PLW0108 - the function is defined below
    CallValue: _view_of_call,
}


def _dictionary(value: Value) -> Any:
    pairs = dictionary_items(value)
    if pairs is None:
        return OPAQUE
    items = [(view(key), view(item)) for key, item in pairs]
    try:
        return dict(items)
    except TypeError:
        return OPAQUE
