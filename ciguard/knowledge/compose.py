"""Compose the constraint of a parameter from its merged clue."""

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
"""Dtypes of a tensor for which no source states any."""
_WEIGHTS = {Structure.TENSOR: 6.0, Structure.TENSORS: 3.0, Structure.INTS: 2.0}
_DEFAULT_MIN_INT, _DEFAULT_MAX_INT = -1, 4
_DEFAULT_MAX_ELEMENT = 4
_MAX_MAGNITUDE = 2**64
"""Largest magnitude of a limit; no integer type exceeds it."""


def constraint_of(known: Clue, *, lacks: Collection[str] = ()) -> Constraint:
    """Return the constraint that the merged clue of a parameter states.

    Args:
        known: the merged clue of all sources.
        lacks: dtypes that the target does not support. They are left out, unless the clue has no
            others.
    """
    if lacks:
        dtypes = known.dtypes or USUAL_DTYPES
        supported = tuple(dtype for dtype in dtypes if dtype not in lacks)
        known = replace(known, dtypes=supported or known.dtypes)
    known = _with_finite_limits(known)
    structures = tuple(s for s in known.structures if s is not Structure.OPAQUE)
    options: list[tuple[float, Constraint]] = []
    if known.allowed and not _are_strings(known.allowed):
        return _optional_if_nullable(OneOf(known.allowed), known)
    if known.allowed and (not structures or Structure.STRING in structures):
        options = [(2.0, OneOf(known.allowed))]
        structures = tuple(s for s in structures if s is not Structure.STRING)
    options += [(_WEIGHTS.get(s, 1.0), _MAKERS[s](known)) for s in structures]
    if not options:
        options = _default_options(known)
    constraint = options[0][1] if len(options) == 1 else AnyOf(tuple(options))
    return _optional_if_nullable(constraint, known)


def _with_finite_limits(known: Clue) -> Clue:
    """Return the clue without limits that exclude nothing, such as infinity and NaN."""
    return replace(known, low=_finite_limit(known.low), high=_finite_limit(known.high))


def _finite_limit(value: float | None) -> float | None:
    return value if value is not None and abs(value) <= _MAX_MAGNITUDE else None


def _optional_if_nullable(constraint: Constraint, known: Clue) -> Constraint:
    return Optional(constraint) if known.nullable else constraint


def _are_strings(values: tuple[Value, ...]) -> bool:
    return all(isinstance(value, LiteralValue) and isinstance(value.value, str) for value in values)


def _default_options(known: Clue) -> list[tuple[float, Constraint]]:
    return [
        (6.0, _tensor(known)),
        (2.0, _int(known)),
        (1.0, _float(known)),
        (1.0, Bool()),
        (1.0, _ints(known)),
    ]


BUILDABLE = frozenset(element_types.EVERY)
"""Dtypes that every worker can build with numpy."""
QUANTISED = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}
"""TensorFlow's quantised dtypes, each with numpy's dtype of the same bits."""


def _tensor(known: Clue) -> Constraint:
    buildable = tuple(name for name in known.dtypes if name in BUILDABLE)
    quantised = tuple(name for name in known.dtypes if name in QUANTISED)
    if buildable or not known.dtypes:
        return _plain_tensor(known, buildable or USUAL_DTYPES)
    if not quantised:
        return OneOf((LiteralValue(None),))  # a resource or variant cannot be built
    # One dtype for the whole call: operators require the same for all quantised inputs.
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
    low = _DEFAULT_MIN_INT if known.low is None else int(known.low)
    high = max(_DEFAULT_MAX_INT, low + 3) if known.high is None else max(int(known.high), low)
    return Int(min=low, max=high, size=known.size, axis_of=known.axis_of)


def _float(known: Clue) -> Constraint:
    low = 0.0 if known.low is None else float(known.low)
    high = max(1.0, low * 2) if known.high is None else max(float(known.high), low)
    return Float(min=low, max=high)


def _number(known: Clue) -> Constraint:
    return AnyOf(((1.0, _int(known)), (1.0, _float(known))))


def _ints(known: Clue) -> Constraint:
    low = 1 if known.low is None else int(known.low)
    high = max(_DEFAULT_MAX_ELEMENT, low + 1) if known.high is None else max(int(known.high), low)
    return Ints(
        length=known.length or (1, 4),
        min=low,
        max=high,
        length_of=known.length_of,
        axes_of=known.axis_of,
        increasing=known.increasing,
    )


def _list_of(item: Callable[[Clue], Constraint]) -> Callable[[Clue], Constraint]:
    return lambda known: List(
        item=item(known), length=known.length or (1, 3), length_of=known.length_of
    )


def _shape_item(known: Clue) -> Constraint:
    del known  # the clue is about the list, not about the shapes in it
    return Ints(length=(0, 3), min=1, max=4)


def _one_of(*values: Value) -> Callable[[Clue], Constraint]:
    return lambda known: OneOf(values)  # noqa: ARG005 - all makers have one signature


def _dtype(known: Clue) -> Constraint:
    names = tuple(name for name in known.dtypes if name in BUILDABLE)
    quantised = [name for name in known.dtypes if name in QUANTISED]
    if quantised and not names:
        return OneOf((MemberValue(f"tensorflow.{quantised[0]}"),))
    names = names or (*element_types.COMMON, "float16", "complex64", "uint8")
    return Dtype(names, known.dtype_of)


def _string(known: Clue) -> Constraint:
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
    Structure.BOOL: lambda known: Bool(),  # noqa: ARG005 - all makers have one signature
    Structure.BOOLS: _list_of(lambda known: Bool()),  # noqa: ARG005 - as above
    Structure.STRING: _string,
    Structure.STRINGS: _list_of(_string),
    Structure.DTYPE: _dtype,
    Structure.DTYPES: _list_of(_dtype),
    Structure.SHAPES: _list_of(_shape_item),
    Structure.DEVICE: _one_of(LiteralValue("cpu")),
    Structure.LAYOUT: _one_of(MemberValue("torch.strided")),
    Structure.FORMAT: _one_of(
        MemberValue("torch.contiguous_format"), MemberValue("torch.preserve_format")
    ),
}
