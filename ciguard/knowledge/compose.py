"""Compose the constraint of a parameter from everything that is known of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import LiteralValue, MemberValue, Value
from ciguard.knowledge.clues import Clue, Structure
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
    from collections.abc import Callable, Collection

USUAL_DTYPES = ("float32", "float64", "int64", "int32", "bool", "complex64", "uint8")
"""For a tensor of which nothing is said."""
_WEIGHTS = {Structure.TENSOR: 6.0, Structure.TENSORS: 3.0, Structure.INTS: 2.0}
_MIN_INT, _MAX_INT = -1, 4
_MAX_SIZE = 4
_FARTHEST = 2**64
"""No integer type reaches farther."""


def constraint_of(known: Clue, *, lacks: Collection[str] = ()) -> Constraint:
    """Return the constraint that says what `known` says.

    Args:
        known: everything that is known of a parameter.
        lacks: element types that the target cannot make; what says nothing else is left with them.
    """
    if lacks:
        said = known.dtypes or USUAL_DTYPES
        known = replace(known, dtypes=tuple(d for d in said if d not in lacks) or known.dtypes)
    known = _bounded(known)
    structures = tuple(s for s in known.structures if s is not Structure.OPAQUE)
    options: list[tuple[float, Constraint]] = []
    if known.allowed and not _are_texts(known.allowed):
        return _perhaps_none(OneOf(known.allowed), known)
    if known.allowed and (not structures or Structure.STRING in structures):
        options = [(2.0, OneOf(known.allowed))]
        structures = tuple(s for s in structures if s is not Structure.STRING)
    options += [(_WEIGHTS.get(one, 1.0), _MAKERS[one](known)) for one in structures]
    if not options:
        options = _anything(known)
    constraint = options[0][1] if len(options) == 1 else AnyOf(tuple(options))
    return _perhaps_none(constraint, known)


def _bounded(known: Clue) -> Clue:
    """Return the clue without limits that limit nothing: infinities, and what is no number."""
    return replace(known, low=_limit(known.low), high=_limit(known.high))


def _limit(at: float | None) -> float | None:
    return at if at is not None and abs(at) <= _FARTHEST else None


def _perhaps_none(constraint: Constraint, known: Clue) -> Constraint:
    return Optional(constraint) if known.nullable else constraint


def _are_texts(values: tuple[Value, ...]) -> bool:
    return all(isinstance(value, LiteralValue) and isinstance(value.value, str) for value in values)


def _anything(known: Clue) -> list[tuple[float, Constraint]]:
    return [
        (6.0, _tensor(known)),
        (2.0, _int(known)),
        (1.0, _float(known)),
        (1.0, Bool()),
        (1.0, _ints(known)),
    ]


BUILDABLE = frozenset(element_types.EVERY)
"""Element types that every worker can make from numpy."""
QUANTISED = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}
"""TensorFlow's quantised types, and the type with the same bits that numpy has."""


def _tensor(known: Clue) -> Constraint:
    buildable = tuple(name for name in known.dtypes if name in BUILDABLE)
    quantised = tuple(name for name in known.dtypes if name in QUANTISED)
    if buildable or not known.dtypes:
        return _plain_tensor(known, buildable or USUAL_DTYPES)
    if not quantised:
        return OneOf((LiteralValue(None),))  # a resource or variant: nothing here can make one
    # One type for the whole call: operators want their quantised inputs alike.
    name = quantised[0]
    return _quantised_tensor(replace(known, dtype_of="", dtypes=(QUANTISED[name],)), name)


def _quantised_tensor(known: Clue, name: str) -> Constraint:
    bits = _plain_tensor(known, known.dtypes)
    return Object("tensorflow.bitcast", (bits, OneOf((MemberValue(f"tensorflow.{name}"),))))


def _plain_tensor(known: Clue, dtypes: tuple[str, ...]) -> Constraint:
    return Tensor(
        dtypes=dtypes,
        dtype_of=known.dtype_of,
        ndim=known.ndim or (0, 5),
        shape=known.shape,
        shape_of=known.shape_of,
        broadcast_with=known.broadcast_with,
        low=known.low,
        high=_high(known.low, known.high),
        axis_of=known.axis_of,
        index_of=known.index_of,
        increasing=known.increasing,
    )


def _high(low: float | None, high: float | None) -> float | None:
    return low if low is not None and high is not None and high < low else high


def _tensors(known: Clue) -> Constraint:
    return List(
        item=_tensor(known),
        length=known.length or (1, 3),
        length_of=known.length_of,
        uniform=True,
    )


def _int(known: Clue) -> Constraint:
    least = _MIN_INT if known.low is None else int(known.low)
    most = max(_MAX_INT, least + 3) if known.high is None else max(int(known.high), least)
    return Int(min=least, max=most, size=known.size, axis_of=known.axis_of)


def _float(known: Clue) -> Constraint:
    least = 0.0 if known.low is None else float(known.low)
    most = max(1.0, least * 2) if known.high is None else max(float(known.high), least)
    return Float(min=least, max=most)


def _number(known: Clue) -> Constraint:
    return AnyOf(((1.0, _int(known)), (1.0, _float(known))))


def _ints(known: Clue) -> Constraint:
    least = 1 if known.low is None else int(known.low)
    most = max(_MAX_SIZE, least + 1) if known.high is None else max(int(known.high), least)
    return Ints(
        length=known.length or (1, 4),
        min=least,
        max=most,
        length_of=known.length_of,
        axes_of=known.axis_of,
        increasing=known.increasing,
    )


def _list_of(item: Callable[[Clue], Constraint]) -> Callable[[Clue], Constraint]:
    return lambda known: List(
        item=item(known), length=known.length or (1, 3), length_of=known.length_of
    )


def _shape_item(known: Clue) -> Constraint:
    del known  # what is said of the list's length is not said of the shapes in it
    return Ints(length=(0, 3), min=1, max=4)


def _members(*values: Value) -> Callable[[Clue], Constraint]:
    return lambda known: OneOf(values)  # noqa: ARG005 - every maker has one form


def _dtype(known: Clue) -> Constraint:
    names = tuple(name for name in known.dtypes if name in BUILDABLE)
    quantised = [name for name in known.dtypes if name in QUANTISED]
    if quantised and not names:
        return OneOf((MemberValue(f"tensorflow.{quantised[0]}"),))
    names = names or (*element_types.COMMON, "float16", "complex64", "uint8")
    return Dtype(names, known.dtype_of)


def _text(known: Clue) -> Constraint:
    del known
    return String()


_MAKERS: dict[Structure, Callable[[Clue], Constraint]] = {
    Structure.TENSOR: _tensor,
    Structure.TENSORS: _tensors,
    Structure.NUMBER: _number,
    Structure.INT: _int,
    Structure.INTS: _ints,
    Structure.FLOAT: _float,
    Structure.FLOATS: _list_of(_float),
    Structure.BOOL: lambda known: Bool(),  # noqa: ARG005 - every maker has one form
    Structure.BOOLS: _list_of(lambda known: Bool()),  # noqa: ARG005 - as above
    Structure.STRING: _text,
    Structure.STRINGS: _list_of(_text),
    Structure.DTYPE: _dtype,
    Structure.DTYPES: _list_of(_dtype),
    Structure.SHAPES: _list_of(_shape_item),
    Structure.DEVICE: _members(LiteralValue("cpu")),
    Structure.LAYOUT: _members(MemberValue("torch.strided")),
    Structure.FORMAT: _members(
        MemberValue("torch.contiguous_format"), MemberValue("torch.preserve_format")
    ),
}
