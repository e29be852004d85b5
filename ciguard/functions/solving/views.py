"""Views of drawn values, as operands of expressions.

The view of an array has its shape and dtype; that of other data is the Python value.
"""

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
    """View of a value that exists only in the target, so that it is unknown."""


OPAQUE = Opaque()
"""View of any unknown value."""


@dataclass(frozen=True, slots=True)
class ObjectView(Opaque):
    """View of an object of which some attributes are known."""

    attributes: Mapping[str, Any]
    """Views of attributes by name; `__len__` stands for the object's length."""


@dataclass(frozen=True, slots=True)
class ArrayView:
    """View of an array or tensor: the properties that expressions may use."""

    shape: tuple[int, ...]
    dtype: str
    is_tensor: bool

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class DtypeView:
    """View of a dtype object; dtypes of different libraries with one name are equal."""

    name: str


def view(value: Value) -> Any:
    """Return the view of a drawn value."""
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
    DictValue: lambda value: _dictionary(value),  # noqa: PLW0108 - defined later in this module
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
