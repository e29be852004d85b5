"""Descriptions of constraints for reports, such as `int from 0 to 3; or None`."""

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
    ResultValue,
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

_DTYPE_GROUPS = (
    ("every int", element_types.INTEGERS),
    ("every float", element_types.FLOATING),
    ("every complex", element_types.COMPLEX),
)
"""Words for groups of dtypes that a constraint contains completely."""
_MAX_LISTED = 12


def in_words(constraint: Constraint) -> str:
    """Return a description of `constraint` in one line."""
    return _words(constraint)


@singledispatch
def _words(constraint: Constraint) -> str:
    msg = f"{constraint!r} is not a value constraint"
    raise TypeError(msg)


@_words.register(Int)
def _int_words(constraint: Int) -> str:
    if constraint.axis_of:
        return f"int, an axis of {constraint.axis_of!r}"
    size = f", the size {constraint.size}" if constraint.size else ""
    step = f" in steps of {constraint.step}" if constraint.step > 1 else ""
    return f"int{_range_words(constraint.min, constraint.max)}{step}{size}"


@_words.register(Float)
def _float_words(constraint: Float) -> str:
    special = [name for name in ("nan", "inf") if getattr(constraint, name)]
    is_default = constraint.width == 64  # noqa: PLR2004 - the width of Python's float
    kind = "float" if is_default else f"float of {constraint.width} bits"
    open_ends = [
        f" without {_number_words(end)}"
        for end, is_open in (
            (constraint.min, constraint.exclude_min),
            (constraint.max, constraint.exclude_max),
        )
        if is_open
    ]
    text = f"{kind}{_range_words(constraint.min, constraint.max)}{' and'.join(open_ends)}"
    return ", or ".join([text, *special])


@_words.register(Bool)
def _bool_words(constraint: Bool) -> str:
    del constraint
    return "bool"


@_words.register(OneOf)
def _one_of_words(constraint: OneOf) -> str:
    options = list(dict.fromkeys(map(_value_words, constraint.values)))
    return options[0] if len(options) == 1 else f"one of {_join_words(options, 'or')}"


@_words.register(String)
def _string_words(constraint: String) -> str:
    if constraint.pattern:
        return f"text that matches {constraint.pattern!r}"
    minimum = f"{constraint.min_length} to " if constraint.min_length else "up to "
    alphabet = f" of {constraint.alphabet!r}" if constraint.alphabet else ""
    return f"text of {minimum}{constraint.max_length} characters{alphabet}"


@_words.register(Bytes)
def _bytes_words(constraint: Bytes) -> str:
    return f"up to {constraint.max_length} bytes"


@_words.register(Dtype)
def _dtype_words(constraint: Dtype) -> str:
    same = f", the one of {constraint.dtype_of!r}" if constraint.dtype_of else ""
    return f"dtype: {_dtype_names_words(constraint.names)}{same}"


@_words.register(Ints)
def _ints_words(constraint: Ints) -> str:
    kind = "tuple" if constraint.as_tuple else "list"
    if constraint.sizes:
        return f"{kind} of the sizes {', '.join(constraint.sizes)}"
    items = "ints" if constraint.length_of else _count_words(constraint.length, "int")
    if constraint.axes_of:
        return f"{kind} of {items}, axes of {constraint.axes_of!r}"
    length = f", one per dimension of {constraint.length_of!r}" if constraint.length_of else ""
    order = ", none less than the one before" if constraint.increasing else ""
    return f"{kind} of {items}{_range_words(constraint.min, constraint.max)}{length}{order}"


@_words.register(Tensor)
def _tensor_words(constraint: Tensor) -> str:
    name = "array" if isinstance(constraint, Array) else "tensor"
    parts = [f"{name} of {_dtype_names_words(constraint.dtypes)}"]
    if constraint.dtype_of:
        parts.append(f"same dtype as {constraint.dtype_of!r}")
    parts.append(_shape_words(constraint))
    if constraint.axis_of:
        parts.append(f"elements are axes of {constraint.axis_of!r}")
    elif constraint.index_of:
        parts.append(f"elements index {constraint.index_of!r}")
    elif constraint.low is not None or constraint.high is not None:
        parts.append(f"elements{_range_words(constraint.low, constraint.high)}")
    if constraint.increasing:
        parts.append("none less than the one before")
    if constraint.nan:
        parts.append("or nan")
    return ", ".join(parts)


def _shape_words(constraint: Tensor) -> str:
    if constraint.shape_of:
        return f"same shape as {constraint.shape_of!r}"
    if constraint.shape is not None:
        dims = [_dim_words(dim) for dim in constraint.shape]
        return f"shape ({', '.join(dims)}{',' if len(dims) == 1 else ''})"
    if constraint.broadcast_with:
        return f"shape that broadcasts with {constraint.broadcast_with!r}"
    return _count_words(constraint.ndim, "dimension")


@_words.register(List)
def _list_words(constraint: List) -> str:
    uniform = " alike" if constraint.uniform else ""
    kind, item = "tuple" if constraint.as_tuple else "list", _words(constraint.item)
    if constraint.length_of:
        return f"{kind} of as many{uniform} as {constraint.length_of!r} has: {item}"
    return f"{kind} of {_count_words(constraint.length, 'item')}{uniform}: {item}"


@_words.register(Tuple)
def _tuple_words(constraint: Tuple) -> str:
    return f"tuple ({'; '.join(map(_words, constraint.items))})"


@_words.register(Dict)
def _dict_words(constraint: Dict) -> str:
    items = [f"{key!r}: {_words(item)}" for key, item in constraint.items]
    return f"dictionary {{{'; '.join(items)}}}"


@_words.register(Mapping)
def _mapping_words(constraint: Mapping) -> str:
    count = _count_words(constraint.length, "item")
    return f"dictionary of {count}: {_words(constraint.key)} to {_words(constraint.item)}"


@_words.register(Object)
def _object_words(constraint: Object) -> str:
    arguments = [*map(_words, constraint.arguments)]
    arguments += [f"{key}={_words(item)}" for key, item in constraint.keywords]
    return f"what {constraint.function} returns for ({'; '.join(arguments)})"


@_words.register(Optional)
def _optional_words(constraint: Optional) -> str:
    return f"{_words(constraint.inner)}; or None"


@_words.register(AnyOf)
def _any_of_words(constraint: AnyOf) -> str:
    return "; or ".join(dict.fromkeys(_words(option) for _, option in constraint.options))


def _dim_words(dim: Dim) -> str:
    match dim:
        case Named(symbol, minimum, maximum):
            return f"{symbol}: {_size_words(minimum, maximum)}"
        case Between(minimum, maximum):
            return _size_words(minimum, maximum)
        case RankOf(parameter):
            return f"rank of {parameter!r}"
        case SizeOf(parameter, axis):
            return f"size {axis} of {parameter!r}"
        case _:
            return str(dim)


def _dtype_names_words(names: tuple[str, ...]) -> str:
    """Return a list of dtypes in words; complete groups have one word, such as `every int`."""
    rest = list(dict.fromkeys(names))
    words = []
    for word, members in _DTYPE_GROUPS:
        if set(members) <= set(rest):
            words.append(word)
            rest = [name for name in rest if name not in members]
    return _join_words([*words, *rest], "or")


def _range_words(minimum: float | None, maximum: float | None) -> str:
    if minimum is None:
        return f" up to {_number_words(maximum)}"
    if maximum is None:
        return f" from {_number_words(minimum)}"
    return (
        f" {_number_words(minimum)}"
        if minimum == maximum
        else f" from {_number_words(minimum)} to {_number_words(maximum)}"
    )


def _number_words(number: float | None) -> str:
    return "anything" if number is None else f"{number:g}" if type(number) is float else str(number)


def _size_words(minimum: int, maximum: int) -> str:
    return str(minimum) if minimum == maximum else f"{minimum}..{maximum}"


def _count_words(bounds: tuple[int, int], noun: str) -> str:
    minimum, maximum = bounds
    if minimum == maximum:
        return f"{minimum} {noun}" if minimum == 1 else f"{minimum} {noun}s"
    return f"{minimum} to {maximum} {noun}s"


def _join_words(words: Iterable[str], conjunction: str) -> str:
    """Return words as a list in a sentence, shortened if there are many."""
    items = list(words)
    if len(items) > _MAX_LISTED:
        rest = len(items) - _MAX_LISTED
        return f"{', '.join(items[:_MAX_LISTED])} {conjunction} {rest} more"
    if len(items) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def _value_words(value: Value) -> str:
    match value:
        case LiteralValue(scalar):
            text = repr(scalar)
        case DtypeValue(name) | MemberValue(name):
            text = name
        case ListValue(items):
            text = f"[{', '.join(map(_value_words, items))}]"
        case TupleValue(items):
            text = f"({', '.join(map(_value_words, items))}{',' if len(items) == 1 else ''})"
        case DictValue(pairs):
            text = f"{{{', '.join(f'{key!r}: {_value_words(item)}' for key, item in pairs)}}}"
        case CallValue(function, arguments, keywords):
            words = [_value_words(item) for item in arguments]
            words += [f"{key}={_value_words(item)}" for key, item in keywords]
            text = f"{function}({', '.join(words)})"
        case ResultValue(step, other=other):
            text = f"the result of step {step}"
            text += f" or {other.step}, by its size" if other is not None else ""
        case _:
            size = " by ".join(map(str, value.shape)) or "scalar"
            text = f"a {size} {value.dtype} tensor"
    return text
