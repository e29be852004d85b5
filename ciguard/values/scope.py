"""The arguments of a call that are already chosen, and the sizes that its symbols stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
)

if TYPE_CHECKING:
    from ciguard.domain.values import Value


class SamplingScope:
    """The arguments and sizes of a call that are already chosen. Mutable: samplers add to it."""

    __slots__ = ("sizes", "values")

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        """Chosen values, by the name of the parameter."""
        self.sizes: dict[str, int] = {}
        """Chosen sizes, by symbol."""

    def shape(self, parameter: str) -> tuple[int, ...] | None:
        """Return the shape of a parameter's value; None if it is not chosen or has no shape."""
        value = self.values.get(parameter)
        if type(value) is TensorValue:  # the most frequent type
            return value.shape
        return None if value is None else shape_of(value)

    def dtype(self, parameter: str) -> str | None:
        """Return the dtype of a parameter's value; None if it is not chosen or has no dtype."""
        value = self.values.get(parameter)
        if type(value) is TensorValue:
            return value.dtype
        return None if value is None else dtype_of(value)

    def length(self, parameter: str) -> int | None:
        """Return the length of a parameter's list, or the rank of its value; None without both."""
        value = self.values.get(parameter)
        if isinstance(value, ListValue | TupleValue):
            return len(value.items)
        shape = self.shape(parameter)
        return None if shape is None else len(shape)


def shape_of(value: Value) -> tuple[int, ...] | None:
    """Return the shape of a tensor, an array or a number; None for values without a shape.

    For a list or a call, it is the shape of the first item or argument.
    """
    match value:
        case TensorValue() | ArrayValue():
            return value.shape
        case LiteralValue(bool() | int() | float() | complex()):
            return ()
        case ListValue((first, *_)) | TupleValue((first, *_)):
            return shape_of(first) if isinstance(first, TensorValue | ArrayValue) else None
        case CallValue(_, (TensorValue() | ArrayValue() | CallValue() as first, *_)):
            return shape_of(first)
        case _:
            return None


def dtype_of(value: Value) -> str | None:
    """Return the dtype of a tensor, an array or a dtype object; None for values without a dtype.

    For a list or a call, it is the dtype of the first item or argument.
    """
    match value:
        case TensorValue() | ArrayValue():
            return value.dtype
        case DtypeValue():
            return value.name
        case ListValue((first, *_)) | TupleValue((first, *_)) | CallValue(_, (first, *_)):
            return dtype_of(first)
        case _:
            return None
