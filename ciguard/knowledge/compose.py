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
"""Dtypes that are drawn for a tensor if no source states its dtypes."""
_WEIGHTS = {Structure.TENSOR: 6.0, Structure.TENSORS: 3.0, Structure.INTS: 2.0}
_DEFAULT_MIN_INT, _DEFAULT_MAX_INT = -1, 4
_DEFAULT_MAX_ELEMENT = 4
_MAX_MAGNITUDE = 2**64
"""Largest magnitude of a limit; no integer type exceeds it."""


def constraint_of(clue: Clue, *, unsupported: Collection[str] = ()) -> Constraint:
    """Return the constraint that the merged clue of a parameter states.

    Args:
        clue: the merged clue of all sources.
        unsupported: dtypes that the target does not support. They are left out, unless no dtype
            would remain.
    """
    if unsupported:
        dtypes = clue.dtypes or USUAL_DTYPES
        supported_dtypes = tuple(dtype for dtype in dtypes if dtype not in unsupported)
        clue = replace(clue, dtypes=supported_dtypes or clue.dtypes)
    clue = _with_finite_limits(clue)
    structures = tuple(s for s in clue.structures if s is not Structure.OPAQUE)
    options: list[tuple[float, Constraint]] = []
    if clue.allowed and not _are_strings(clue.allowed):
        return _optional_if_nullable(OneOf(clue.allowed), clue)
    if clue.allowed and (not structures or Structure.STRING in structures):
        options = [(2.0, OneOf(clue.allowed))]
        structures = tuple(s for s in structures if s is not Structure.STRING)
    options += [(_WEIGHTS.get(s, 1.0), _MAKERS[s](clue)) for s in structures]
    if not options:
        options = _default_options(clue)
    constraint = options[0][1] if len(options) == 1 else AnyOf(tuple(options))
    return _optional_if_nullable(constraint, clue)


def _with_finite_limits(clue: Clue) -> Clue:
    """Return the clue without limits that exclude no value, such as infinity and NaN."""
    low, high = _finite_limit(clue.low), _finite_limit(clue.high)
    return clue if (low, high) == (clue.low, clue.high) else replace(clue, low=low, high=high)


def _finite_limit(value: float | None) -> float | None:
    return value if value is not None and abs(value) <= _MAX_MAGNITUDE else None


def _optional_if_nullable(constraint: Constraint, clue: Clue) -> Constraint:
    return Optional(constraint) if clue.nullable else constraint


def _are_strings(values: tuple[Value, ...]) -> bool:
    return all(isinstance(value, LiteralValue) and isinstance(value.value, str) for value in values)


def _default_options(clue: Clue) -> list[tuple[float, Constraint]]:
    """Return weighted alternatives for a parameter of unknown structure."""
    return [
        (6.0, _tensor(clue)),
        (2.0, _int(clue)),
        (1.0, _float(clue)),
        (1.0, Bool()),
        (1.0, _ints(clue)),
    ]


BUILDABLE = frozenset(element_types.EVERY)
"""Dtypes of which every worker can build tensors with numpy."""
QUANTISED = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}
"""numpy's dtype with the same bits, by TensorFlow's quantised dtype."""


def _tensor(clue: Clue) -> Constraint:
    """Return the constraint of a tensor; a quantised tensor is the bitcast of a plain tensor."""
    buildable_names = tuple(name for name in clue.dtypes if name in BUILDABLE)
    quantised_names = tuple(name for name in clue.dtypes if name in QUANTISED)
    if buildable_names or not clue.dtypes:
        return _plain_tensor(clue, buildable_names or USUAL_DTYPES)
    if not quantised_names:
        return OneOf((LiteralValue(None),))  # tensors of resource and variant cannot be built
    # Operators require one dtype for all quantised inputs of a call.
    name = quantised_names[0]
    return _quantised_tensor(replace(clue, dtype_of="", dtypes=(QUANTISED[name],)), name)


def _quantised_tensor(clue: Clue, name: str) -> Constraint:
    """Return the constraint of a tensor of TensorFlow's quantised dtype `name`."""
    bits = _plain_tensor(clue, clue.dtypes)
    return Object("tensorflow.bitcast", (bits, OneOf((MemberValue(f"tensorflow.{name}"),))))


def _plain_tensor(clue: Clue, dtypes: tuple[str, ...]) -> Constraint:
    """Return the constraint of a tensor of dtypes that are not quantised."""
    return Tensor(
        dtypes=dtypes,
        dtype_of=clue.dtype_of,
        ndim=clue.ndim or (0, 5),
        shape=clue.shape,
        shape_of=clue.shape_of,
        broadcast_with=clue.broadcast_with,
        low=clue.low,
        high=_max_not_below_min(clue.low, clue.high),
        axis_of=clue.axis_of,
        index_of=clue.index_of,
        increasing=clue.increasing,
    )


def _max_not_below_min(low: float | None, high: float | None) -> float | None:
    """Return the maximum, raised to the minimum if it is lower."""
    return low if low is not None and high is not None and high < low else high


def _tensors(clue: Clue) -> Constraint:
    return List(
        item=_tensor(clue),
        length=clue.length or (1, 3),
        length_of=clue.length_of,
        uniform=True,
    )


def _int(clue: Clue) -> Constraint:
    low = _DEFAULT_MIN_INT if clue.low is None else int(clue.low)
    high = max(_DEFAULT_MAX_INT, low + 3) if clue.high is None else max(int(clue.high), low)
    return Int(min=low, max=high, size=clue.size, axis_of=clue.axis_of)


def _float(clue: Clue) -> Constraint:
    low = 0.0 if clue.low is None else float(clue.low)
    high = max(1.0, low * 2) if clue.high is None else max(float(clue.high), low)
    return Float(min=low, max=high)


def _number(clue: Clue) -> Constraint:
    return AnyOf(((1.0, _int(clue)), (1.0, _float(clue))))


def _ints(clue: Clue) -> Constraint:
    """Return the constraint of a list of ints."""
    low = 1 if clue.low is None else int(clue.low)
    high = max(_DEFAULT_MAX_ELEMENT, low + 1) if clue.high is None else max(int(clue.high), low)
    return Ints(
        length=clue.length or (1, 4),
        min=low,
        max=high,
        length_of=clue.length_of,
        axes_of=clue.axis_of,
        increasing=clue.increasing,
    )


def _list_of(item: Callable[[Clue], Constraint]) -> Callable[[Clue], Constraint]:
    return lambda clue: List(
        item=item(clue), length=clue.length or (1, 3), length_of=clue.length_of
    )


def _shape_item(clue: Clue) -> Constraint:
    del clue  # a clue limits the list, and not the shapes in it
    return Ints(length=(0, 3), min=1, max=4)


def _one_of(*values: Value) -> Callable[[Clue], Constraint]:
    return lambda clue: OneOf(values)  # noqa: ARG005 - all makers have one signature


def _dtype(clue: Clue) -> Constraint:
    names = tuple(name for name in clue.dtypes if name in BUILDABLE)
    quantised_names = [name for name in clue.dtypes if name in QUANTISED]
    if quantised_names and not names:
        return OneOf((MemberValue(f"tensorflow.{quantised_names[0]}"),))
    names = names or (*element_types.COMMON, "float16", "complex64", "uint8")
    return Dtype(names, clue.dtype_of)


def _string(clue: Clue) -> Constraint:
    del clue
    return String()


_MAKERS: dict[Structure, Callable[[Clue], Constraint]] = {
    Structure.TENSOR: _tensor,
    Structure.TENSORS: _tensors,
    Structure.NUMBER: _number,
    Structure.INT: _int,
    Structure.INTS: _ints,
    Structure.FLOAT: _float,
    Structure.FLOATS: _list_of(_float),
    Structure.BOOL: lambda clue: Bool(),  # noqa: ARG005 - all makers have one signature
    Structure.BOOLS: _list_of(lambda clue: Bool()),  # noqa: ARG005 - all makers have one signature
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
