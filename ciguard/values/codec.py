"""Constraints as JSON: one object with one key, the kind, e.g. `{"int": {"min": 0, "max": 3}}`.

What a constraint leaves unsaid is left out; what it says is written even where it is the default,
so that a file means the same to whoever reads it. The order of keys is the order of the fields.
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
_UNSAID: tuple[object, ...] = ("", None, False, ())
"""Defaults that say nothing."""


def constraint_to_json(constraint: Constraint) -> Json:
    """Return the JSON form of `constraint`: an object whose one key is its kind."""
    plan = _PLANS[type(constraint)]
    said: dict[str, Json] = {}
    for field in plan.fields:
        value = getattr(constraint, field.name)
        if not (field.may_be_unsaid and value == field.default):
            said[field.name] = field.encode(value)
    return {plan.kind: said}


def constraint_from_json(encoded: Json) -> Constraint:
    """Rebuild a constraint from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of a constraint; names kind and key.
    """
    try:
        ((kind, said),) = encoded.items()
        plan = _PLANS_BY_KIND[kind]
        given = dict(said)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"{_shown(encoded)} is no constraint: one of {', '.join(_PLANS_BY_KIND)} is"
        raise ValueError(msg) from error
    arguments: dict[str, Any] = {}
    for field in plan.fields:
        if field.name in given:
            arguments[field.name] = _decoded(plan.kind, field, given.pop(field.name))
        elif field.is_required:
            msg = f"{plan.kind}: the key {field.name!r} is missing"
            raise ValueError(msg)
    if given:
        msg = f"{plan.kind}: unknown key {next(iter(given))!r}"
        raise ValueError(msg)
    made: Constraint = plan.type(**arguments)
    return made


def _decoded(kind: str, field: _Field, encoded: Json) -> Any:
    try:
        return field.decode(encoded)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = str(error) if type(error) is ValueError else _shown(encoded)
        msg = f"{kind}: {field.name}: {reason}"
        raise ValueError(msg) from error


def _shown(encoded: Json) -> str:
    text = repr(encoded)
    return text if len(text) <= 80 else text[:79] + "…"  # noqa: PLR2004 - the width of a line


# --- codecs of fields, by the type that the field is annotated with -----------------------------


class _Codec(NamedTuple):
    encode: Callable[[Any], Json]
    decode: Callable[[Json], Any]


class _Field(NamedTuple):
    name: str
    encode: Callable[[Any], Json]
    decode: Callable[[Json], Any]
    default: object
    is_required: bool
    may_be_unsaid: bool


class _Plan(NamedTuple):
    kind: str
    type: Callable[..., Any]
    fields: tuple[_Field, ...]


def _same(value: Any) -> Json:
    return value


def _exactly(wanted: type, encoded: Json) -> Any:
    # Not `isinstance`: `true` is an integer to Python, and none to whoever wrote it.
    if type(encoded) is not wanted:
        msg = f"{_shown(encoded)} is no {wanted.__name__}"
        raise ValueError(msg)
    return encoded


def _number_to_json(number: float | None) -> Json:
    if isinstance(number, float) and not -float("inf") < number < float("inf"):
        return repr(number)  # JSON has no infinities
    return number


def _number(encoded: Json) -> float:
    if encoded in {"inf", "-inf", "nan"}:
        return float(encoded)
    if type(encoded) not in {int, float}:
        msg = f"{_shown(encoded)} is no number"
        raise ValueError(msg)
    number: float = encoded
    return number


def _perhaps_number(encoded: Json) -> float | None:
    return None if encoded is None else _number(encoded)


def _texts(encoded: Json) -> tuple[str, ...]:
    return tuple(_exactly(str, item) for item in _exactly(list, encoded))


def _pair(encoded: Json) -> tuple[int, int]:
    least, most = _exactly(list, encoded)
    return _exactly(int, least), _exactly(int, most)


def _dim_to_json(dim: Dim) -> Json:
    if isinstance(dim, int | str):
        return dim
    name = _snake(type(dim).__name__)
    return {name: [getattr(dim, field.name) for field in fields(dim)]}


def _dim(encoded: Json) -> Dim:
    if type(encoded) in {int, str}:
        plain: int | str = encoded
        return plain
    try:
        ((name, arguments),) = _exactly(dict, encoded).items()
        made = _DIMS_BY_NAME[name]
        wanted = [str(field.type) for field in fields(made)]
        given = [
            _exactly({"int": int, "str": str}[kind], argument)
            for kind, argument in zip(wanted, arguments, strict=True)
        ]
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{_shown(encoded)} is no dimension"
        raise ValueError(msg) from error
    dim: Dim = made(*given)
    return dim


def _dims_to_json(dims: tuple[Dim, ...] | None) -> Json:
    return None if dims is None else [_dim_to_json(dim) for dim in dims]


def _dims(encoded: Json) -> tuple[Dim, ...] | None:
    return None if encoded is None else tuple(_dim(item) for item in _exactly(list, encoded))


def _pairs_to_json(pairs: tuple[tuple[Any, Constraint], ...]) -> Json:
    return [
        [
            first if isinstance(first, str) else _number_to_json(first),
            constraint_to_json(constraint),
        ]
        for first, constraint in pairs
    ]


def _pairs(first_of: Callable[[Json], Any], encoded: Json) -> tuple[tuple[Any, Constraint], ...]:
    found = []
    for pair in _exactly(list, encoded):
        first, constraint = _exactly(list, pair)
        found.append((first_of(first), constraint_from_json(constraint)))
    return tuple(found)


_CODECS: dict[str, _Codec] = {
    "int": _Codec(_same, partial(_exactly, int)),
    "bool": _Codec(_same, partial(_exactly, bool)),
    "str": _Codec(_same, partial(_exactly, str)),
    "float": _Codec(_number_to_json, _number),
    "float | None": _Codec(_number_to_json, _perhaps_number),
    "tuple[str, ...]": _Codec(list, _texts),
    "tuple[int, int]": _Codec(list, _pair),
    "tuple[Dim, ...] | None": _Codec(_dims_to_json, _dims),
    "tuple[Value, ...]": _Codec(
        lambda values: [value_to_json(value) for value in values],
        lambda encoded: tuple(value_from_json(item) for item in _exactly(list, encoded)),
    ),
    "Constraint": _Codec(constraint_to_json, constraint_from_json),
    "tuple[Constraint, ...]": _Codec(
        lambda items: [constraint_to_json(item) for item in items],
        lambda encoded: tuple(constraint_from_json(item) for item in _exactly(list, encoded)),
    ),
    "tuple[tuple[str, Constraint], ...]": _Codec(
        _pairs_to_json, partial(_pairs, partial(_exactly, str))
    ),
    "tuple[tuple[float, Constraint], ...]": _Codec(_pairs_to_json, partial(_pairs, _number)),
}


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _plan(kind: Any) -> _Plan:
    planned = []
    for field in fields(kind):
        codec = _CODECS[str(field.type)]
        default = field.default
        unsaid = any(type(default) is type(none) and default == none for none in _UNSAID)
        planned.append(_Field(field.name, *codec, default, default is MISSING, unsaid))
    return _Plan(_snake(kind.__name__), kind, tuple(planned))


_PLANS = {kind: _plan(kind) for kind in _KINDS}
_PLANS_BY_KIND = {plan.kind: plan for plan in _PLANS.values()}
_DIMS_BY_NAME: dict[str, type[Any]] = {_snake(dim.__name__): dim for dim in _DIMS}
