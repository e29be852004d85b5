"""Traits of an argument: short names of the choices that were made when the argument was drawn.

Accepted and rejected calls are counted by trait, so that later calls draw the traits that work. A
trait is `kind:tensor`, `dtype:float32`, `ndim:2`, `is:'mean'`, `length:3`, or a relation to the
leading tensor of the call: `shape=` for an equal shape and `shape!` for a different shape, `dtype=`
and `dtype!` for the dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
    TupleValue,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OMITTED = ("omitted",)
"""Traits of a parameter that a call omits."""
GIVEN = "given"
"""Trait of every parameter that a call passes."""
_MAX_COUNTED = 16
"""Maximum magnitude of an int that has its own trait; larger ints share one trait per sign."""
_MAX_TEXT_LENGTH = 24


def kind_of(value: Value) -> str:
    """Return the name of a value's structure."""
    match value:
        case TensorValue() | ArrayValue():
            kind = "tensor"
        case LiteralValue(scalar):
            kind = "none" if scalar is None else type(scalar).__name__
        case ListValue(items) | TupleValue(items):
            kind = f"list of {kind_of(items[0])}" if items else "empty list"
        case CallValue(function):
            kind = function
        case _:
            kind = type(value).__name__.removesuffix("Value").lower()
    return kind


def traits_of(values: Mapping[str, Value], names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the traits of every parameter of a call.

    Args:
        values: the arguments of the call, by parameter.
        names: the names of all parameters, in the order of their declaration.
    """
    lead = next((v for v in values.values() if isinstance(v, TensorValue)), None)
    return {
        name: (GIVEN, *_traits(value, lead)) if value is not None else OMITTED
        for name, value in ((name, values.get(name)) for name in names)
    }


def _traits(value: Value, lead: TensorValue | None) -> tuple[str, ...]:
    """Return the traits of one argument."""
    kind = f"kind:{kind_of(value)}"
    match value:
        case TensorValue() | ArrayValue():
            traits = (kind, f"dtype:{value.dtype}", f"ndim:{len(value.shape)}")
            if lead is None or value is lead:
                return traits
            shape = "shape=" if value.shape == lead.shape else "shape!"
            return (*traits, shape, "dtype=" if value.dtype == lead.dtype else "dtype!")
        case ListValue(items) | TupleValue(items):
            return (kind, f"length:{len(items)}")
        case LiteralValue() | DtypeValue() | MemberValue():
            choice = choice_of(value)
            return (kind, choice) if choice else (kind,)
        case _:
            return (kind,)


def choice_of(value: Value) -> str:
    """Return the trait that distinguishes a scalar from other scalars; empty for other values."""
    choice = ""
    match value:
        case LiteralValue(bool() as flag):
            choice = f"is:{flag}"
        case LiteralValue(int() as number):
            is_small = abs(number) <= _MAX_COUNTED
            choice = f"is:{number}" if is_small else f"is:{'<' if number < 0 else '>'}"
        case LiteralValue(str() as text):
            choice = f"is:{text!r}" if len(text) <= _MAX_TEXT_LENGTH else "is:long"
        case DtypeValue(name):
            choice = f"dtype:{name}"
        case MemberValue(path):
            choice = f"is:{path}"
        case _:
            pass
    return choice
