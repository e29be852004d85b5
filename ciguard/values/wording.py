"""Descriptions of constraints for reports: `int from 0 to 3, an axis of 'x'; or None`."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    CallValue,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    MemberValue,
    TupleValue,
    Value,
)
from ciguard.values.constraints import (
    AnyOf,
    Array,
    Between,
    Bool,
    Bytes,
    Constraint,
    Dict,
    Dim,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Mapping,
    Named,
    Object,
    OneOf,
    Optional,
    RankOf,
    SizeOf,
    String,
    Tensor,
    Tuple,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_GROUPS = (
    ("every int", element_types.INTEGERS),
    ("every float", element_types.FLOATING),
    ("every complex", element_types.COMPLEX),
)
_MAX_LISTED = 12


def in_words(constraint: Constraint) -> str:
    """Return a description of `constraint` in one line."""
    return _words(constraint)


@singledispatch
def _words(constraint: Constraint) -> str:
    msg = f"{constraint!r} is not a value constraint"
    raise TypeError(msg)


@_words.register(Int)
def _int(constraint: Int) -> str:
    if constraint.axis_of:
        return f"int, an axis of {constraint.axis_of!r}"
    size = f", the size {constraint.size}" if constraint.size else ""
    step = f" in steps of {constraint.step}" if constraint.step > 1 else ""
    return f"int{_range(constraint.min, constraint.max)}{step}{size}"


@_words.register(Float)
def _float(constraint: Float) -> str:
    special = [name for name in ("nan", "inf") if getattr(constraint, name)]
    kind = "float" if constraint.width == 64 else f"float of {constraint.width} bits"  # noqa: PLR2004 - Python's own
    open_ends = [
        f" without {_number(end)}"
        for end, is_open in (
            (constraint.min, constraint.exclude_min),
            (constraint.max, constraint.exclude_max),
        )
        if is_open
    ]
    shown = f"{kind}{_range(constraint.min, constraint.max)}{' and'.join(open_ends)}"
    return ", or ".join([shown, *special])


@_words.register(Bool)
def _bool(constraint: Bool) -> str:
    del constraint
    return "bool"


@_words.register(OneOf)
def _one_of(constraint: OneOf) -> str:
    shown = list(dict.fromkeys(map(_value, constraint.values)))
    return shown[0] if len(shown) == 1 else f"one of {_listed(shown, 'or')}"


@_words.register(String)
def _string(constraint: String) -> str:
    if constraint.pattern:
        return f"text that matches {constraint.pattern!r}"
    least = f"{constraint.min_length} to " if constraint.min_length else "up to "
    alphabet = f" of {constraint.alphabet!r}" if constraint.alphabet else ""
    return f"text of {least}{constraint.max_length} characters{alphabet}"


@_words.register(Bytes)
def _bytes(constraint: Bytes) -> str:
    return f"up to {constraint.max_length} bytes"


@_words.register(Dtype)
def _dtype(constraint: Dtype) -> str:
    same = f", the one of {constraint.dtype_of!r}" if constraint.dtype_of else ""
    return f"dtype: {_dtypes(constraint.names)}{same}"


@_words.register(Ints)
def _ints(constraint: Ints) -> str:
    kind = "tuple" if constraint.as_tuple else "list"
    if constraint.sizes:
        return f"{kind} of the sizes {', '.join(constraint.sizes)}"
    many = "ints" if constraint.length_of else _count(constraint.length, "int")
    if constraint.axes_of:
        return f"{kind} of {many}, axes of {constraint.axes_of!r}"
    each = f", one per dimension of {constraint.length_of!r}" if constraint.length_of else ""
    order = ", none less than the one before" if constraint.increasing else ""
    return f"{kind} of {many}{_range(constraint.min, constraint.max)}{each}{order}"


@_words.register(Tensor)
def _tensor(constraint: Tensor) -> str:
    name = "array" if isinstance(constraint, Array) else "tensor"
    parts = [f"{name} of {_dtypes(constraint.dtypes)}"]
    if constraint.dtype_of:
        parts.append(f"same dtype as {constraint.dtype_of!r}")
    parts.append(_shape(constraint))
    if constraint.axis_of:
        parts.append(f"elements are axes of {constraint.axis_of!r}")
    elif constraint.index_of:
        parts.append(f"elements index {constraint.index_of!r}")
    elif constraint.low is not None or constraint.high is not None:
        parts.append(f"elements{_range(constraint.low, constraint.high)}")
    if constraint.increasing:
        parts.append("none less than the one before")
    if constraint.nan:
        parts.append("or nan")
    return ", ".join(parts)


def _shape(constraint: Tensor) -> str:
    if constraint.shape_of:
        return f"same shape as {constraint.shape_of!r}"
    if constraint.shape is not None:
        dims = [_dim(dim) for dim in constraint.shape]
        return f"shape ({', '.join(dims)}{',' if len(dims) == 1 else ''})"
    if constraint.broadcast_with:
        return f"shape that broadcasts with {constraint.broadcast_with!r}"
    return _count(constraint.ndim, "dimension")


@_words.register(List)
def _list(constraint: List) -> str:
    uniform = " alike" if constraint.uniform else ""
    kind, item = "tuple" if constraint.as_tuple else "list", _words(constraint.item)
    if constraint.length_of:
        return f"{kind} of as many{uniform} as {constraint.length_of!r} has: {item}"
    return f"{kind} of {_count(constraint.length, 'item')}{uniform}: {item}"


@_words.register(Tuple)
def _tuple(constraint: Tuple) -> str:
    return f"tuple ({'; '.join(map(_words, constraint.items))})"


@_words.register(Dict)
def _dict(constraint: Dict) -> str:
    items = [f"{key!r}: {_words(item)}" for key, item in constraint.items]
    return f"dictionary {{{'; '.join(items)}}}"


@_words.register(Mapping)
def _mapping(constraint: Mapping) -> str:
    count = _count(constraint.length, "item")
    return f"dictionary of {count}: {_words(constraint.key)} to {_words(constraint.item)}"


@_words.register(Object)
def _object(constraint: Object) -> str:
    arguments = [*map(_words, constraint.arguments)]
    arguments += [f"{key}={_words(item)}" for key, item in constraint.keywords]
    return f"what {constraint.function} returns for ({'; '.join(arguments)})"


@_words.register(Optional)
def _optional(constraint: Optional) -> str:
    return f"{_words(constraint.inner)}; or None"


@_words.register(AnyOf)
def _any_of(constraint: AnyOf) -> str:
    return "; or ".join(dict.fromkeys(_words(option) for _, option in constraint.options))


def _dim(dim: Dim) -> str:
    match dim:
        case Named(symbol, least, most):
            return f"{symbol}: {_span(least, most)}"
        case Between(least, most):
            return _span(least, most)
        case RankOf(parameter):
            return f"rank of {parameter!r}"
        case SizeOf(parameter, axis):
            return f"size {axis} of {parameter!r}"
        case _:
            return str(dim)


def _dtypes(names: tuple[str, ...]) -> str:
    rest = list(dict.fromkeys(names))
    shown = []
    for word, members in _GROUPS:
        if set(members) <= set(rest):
            shown.append(word)
            rest = [name for name in rest if name not in members]
    return _listed([*shown, *rest], "or")


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return f" up to {_number(most)}"
    if most is None:
        return f" from {_number(least)}"
    return f" {_number(least)}" if least == most else f" from {_number(least)} to {_number(most)}"


def _number(number: float | None) -> str:
    return "anything" if number is None else f"{number:g}" if type(number) is float else str(number)


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least}..{most}"


def _count(bounds: tuple[int, int], noun: str) -> str:
    least, most = bounds
    if least == most:
        return f"{least} {noun}" if least == 1 else f"{least} {noun}s"
    return f"{least} to {most} {noun}s"


def _listed(words: Iterable[str], joint: str) -> str:
    items = list(words)
    if len(items) > _MAX_LISTED:
        rest = len(items) - _MAX_LISTED
        return f"{', '.join(items[:_MAX_LISTED])} {joint} {rest} more"
    if len(items) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(items)
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"


def _value(value: Value) -> str:
    match value:
        case LiteralValue(scalar):
            shown = repr(scalar)
        case DtypeValue(name) | MemberValue(name):
            shown = name
        case ListValue(items):
            shown = f"[{', '.join(map(_value, items))}]"
        case TupleValue(items):
            shown = f"({', '.join(map(_value, items))}{',' if len(items) == 1 else ''})"
        case DictValue(pairs):
            shown = f"{{{', '.join(f'{key!r}: {_value(item)}' for key, item in pairs)}}}"
        case CallValue(function, arguments, keywords):
            words = [_value(item) for item in arguments]
            words += [f"{key}={_value(item)}" for key, item in keywords]
            shown = f"{function}({', '.join(words)})"
        case _:
            size = " by ".join(map(str, value.shape)) or "scalar"
            shown = f"a {size} {value.dtype} tensor"
    return shown
