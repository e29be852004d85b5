"""Constraints as JSON: an object whose only key is the kind, as in `{"int": {"min": 0, "max": 3}}`.

A field is omitted if it has its default and the default is empty (`""`, null, false or a list
without items). Other fields are always written, so that a file keeps its meaning if a default
changes. The keys are in the order of the fields.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ciguard.domain.values import Json, value_from_json, value_to_json
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
    from collections.abc import Callable

_KINDS: tuple[type, ...] = (
    *(Int, Float, Bool, OneOf, String, Bytes, Dtype, Ints, Tensor, Array, List, Tuple, Dict),
    *(Mapping, Object, Optional, AnyOf),
)
_DIMS: tuple[type, ...] = (Named, RankOf, SizeOf, Between)
_EMPTY_DEFAULTS: tuple[object, ...] = ("", None, False, ())
"""Defaults that the JSON form omits."""


def constraint_to_json(constraint: Constraint) -> Json:
    """Return the JSON form of `constraint`: an object whose only key is its kind."""
    codec = _CODECS_BY_TYPE[type(constraint)]
    encoded: dict[str, Json] = {}
    for field in codec.fields:
        value = getattr(constraint, field.name)
        if not (field.is_omitted_if_default and value == field.default):
            encoded[field.name] = field.encode(value)
    return {codec.kind: encoded}


def constraint_from_json(encoded: Json) -> Constraint:
    """Rebuild a constraint from its JSON form.

    Raises:
        ValueError: if `encoded` is malformed; the message names the kind and the key.
    """
    try:
        ((kind, members),) = encoded.items()
        codec = _CODECS_BY_KIND[kind]
        remaining = dict(members)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        kinds = ", ".join(_CODECS_BY_KIND)
        shown = _shortened_repr(encoded)
        msg = f"{shown} is not a constraint: an object with one of the keys {kinds}"
        raise ValueError(msg) from error
    arguments: dict[str, Any] = {}
    for field in codec.fields:
        if field.name in remaining:
            arguments[field.name] = _decoded(codec.kind, field, remaining.pop(field.name))
        elif field.is_required:
            msg = f"{codec.kind}: the key {field.name!r} is missing"
            raise ValueError(msg)
    if remaining:
        msg = f"{codec.kind}: unknown key {next(iter(remaining))!r}"
        raise ValueError(msg)
    constraint: Constraint = codec.type(**arguments)
    return constraint


def _decoded(kind: str, field: _Field, encoded: Json) -> Any:
    """Return the value of a field; a ValueError names the kind and the field."""
    try:
        return field.decode(encoded)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = str(error) if type(error) is ValueError else _shortened_repr(encoded)
        msg = f"{kind}: {field.name}: {reason}"
        raise ValueError(msg) from error


def _shortened_repr(encoded: Json) -> str:
    text = repr(encoded)
    return text if len(text) <= 80 else text[:79] + "…"  # noqa: PLR2004 - at most one line


# --- codecs of fields, by the annotation of the field ---------------------------------------------


class _Codec(NamedTuple):
    encode: Callable[[Any], Json]
    decode: Callable[[Json], Any]


class _Field(NamedTuple):
    name: str
    encode: Callable[[Any], Json]
    decode: Callable[[Json], Any]
    default: object
    is_required: bool
    is_omitted_if_default: bool


class _KindCodec(NamedTuple):
    kind: str
    type: Callable[..., Any]
    fields: tuple[_Field, ...]


def _unchanged(value: Any) -> Json:
    return value


def _require_type(kind: type, encoded: Json) -> Any:
    """Return `encoded` if it is exactly of type `kind`; otherwise raise a ValueError."""
    # Not `isinstance`, because `True` is an `int`.
    if type(encoded) is not kind:
        msg = f"{_shortened_repr(encoded)} is not of type {kind.__name__}"
        raise ValueError(msg)
    return encoded


def _number_to_json(number: float | None) -> Json:
    if isinstance(number, float) and not -float("inf") < number < float("inf"):
        return repr(number)  # JSON has no infinities
    return number


def _number_from_json(encoded: Json) -> float:
    if encoded in {"inf", "-inf", "nan"}:
        return float(encoded)
    if type(encoded) not in {int, float}:
        msg = f"{_shortened_repr(encoded)} is not a number"
        raise ValueError(msg)
    number: float = encoded
    return number


def _optional_number(encoded: Json) -> float | None:
    return None if encoded is None else _number_from_json(encoded)


def _texts_from_json(encoded: Json) -> tuple[str, ...]:
    return tuple(_require_type(str, item) for item in _require_type(list, encoded))


def _pair_from_json(encoded: Json) -> tuple[int, int]:
    minimum, maximum = _require_type(list, encoded)
    return _require_type(int, minimum), _require_type(int, maximum)


def _dim_to_json(dim: Dim) -> Json:
    if isinstance(dim, int | str):
        return dim
    name = _snake(type(dim).__name__)
    return {name: [getattr(dim, field.name) for field in fields(dim)]}


def _dim_from_json(encoded: Json) -> Dim:
    if type(encoded) in {int, str}:
        plain: int | str = encoded
        return plain
    try:
        ((name, arguments),) = _require_type(dict, encoded).items()
        dim_type = _DIMS_BY_NAME[name]
        types = [str(field.type) for field in fields(dim_type)]
        values = [
            _require_type({"int": int, "str": str}[kind], argument)
            for kind, argument in zip(types, arguments, strict=True)
        ]
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{_shortened_repr(encoded)} is not a dimension"
        raise ValueError(msg) from error
    dim: Dim = dim_type(*values)
    return dim


def _dims_to_json(dims: tuple[Dim, ...] | None) -> Json:
    return None if dims is None else [_dim_to_json(dim) for dim in dims]


def _dims_from_json(encoded: Json) -> tuple[Dim, ...] | None:
    return (
        None
        if encoded is None
        else tuple(_dim_from_json(item) for item in _require_type(list, encoded))
    )


def _pairs_to_json(pairs: tuple[tuple[Any, Constraint], ...]) -> Json:
    return [
        [
            first if isinstance(first, str) else _number_to_json(first),
            constraint_to_json(constraint),
        ]
        for first, constraint in pairs
    ]


def _pairs_from_json(
    first_of: Callable[[Json], Any], encoded: Json
) -> tuple[tuple[Any, Constraint], ...]:
    pairs = []
    for pair in _require_type(list, encoded):
        first, constraint = _require_type(list, pair)
        pairs.append((first_of(first), constraint_from_json(constraint)))
    return tuple(pairs)


_FIELD_CODECS: dict[str, _Codec] = {
    "int": _Codec(_unchanged, partial(_require_type, int)),
    "bool": _Codec(_unchanged, partial(_require_type, bool)),
    "str": _Codec(_unchanged, partial(_require_type, str)),
    "float": _Codec(_number_to_json, _number_from_json),
    "float | None": _Codec(_number_to_json, _optional_number),
    "tuple[str, ...]": _Codec(list, _texts_from_json),
    "tuple[int, int]": _Codec(list, _pair_from_json),
    "tuple[Dim, ...] | None": _Codec(_dims_to_json, _dims_from_json),
    "tuple[Value, ...]": _Codec(
        lambda values: [value_to_json(value) for value in values],
        lambda encoded: tuple(value_from_json(item) for item in _require_type(list, encoded)),
    ),
    "Constraint": _Codec(constraint_to_json, constraint_from_json),
    "tuple[Constraint, ...]": _Codec(
        lambda items: [constraint_to_json(item) for item in items],
        lambda encoded: tuple(constraint_from_json(item) for item in _require_type(list, encoded)),
    ),
    "tuple[tuple[str, Constraint], ...]": _Codec(
        _pairs_to_json, partial(_pairs_from_json, partial(_require_type, str))
    ),
    "tuple[tuple[float, Constraint], ...]": _Codec(
        _pairs_to_json, partial(_pairs_from_json, _number_from_json)
    ),
}


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _kind_codec(kind: Any) -> _KindCodec:
    """Return the codec of a kind of constraint, from the annotations of its fields."""
    field_codecs = []
    for field in fields(kind):
        codec = _FIELD_CODECS[str(field.type)]
        default = field.default
        is_empty = any(
            type(default) is type(empty) and default == empty for empty in _EMPTY_DEFAULTS
        )
        field_codecs.append(_Field(field.name, *codec, default, default is MISSING, is_empty))
    return _KindCodec(_snake(kind.__name__), kind, tuple(field_codecs))


_CODECS_BY_TYPE = {kind: _kind_codec(kind) for kind in _KINDS}
_CODECS_BY_KIND = {plan.kind: plan for plan in _CODECS_BY_TYPE.values()}
_DIMS_BY_NAME: dict[str, type[Any]] = {_snake(dim.__name__): dim for dim in _DIMS}
