"""Replaces references to other arguments in a constraint, once these arguments are drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from ciguard.functions.solving.expressions import evaluate
from ciguard.functions.solving.views import DtypeView
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    FloatRange,
    IntRange,
    Lists,
    Reference,
    Shapes,
    Spec,
    Strings,
    SymbolicSize,
    SymbolicSizes,
    Tuples,
    parts_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class ImpossibleError(Exception):
    """Error if no value of an argument is valid for the call's other arguments."""


def has_references(spec: Spec) -> bool:
    """Return whether a constraint or one of its parts refers to other arguments."""
    return bool(references_of(spec)) or any(map(has_references, parts_of(spec)))


def references_of(spec: Spec) -> tuple[str, ...]:
    """Return the expressions of a constraint's own references, without those of its parts."""
    references = [value for value in _field_values(spec) if isinstance(value, Reference)]
    return tuple(reference.expression for reference in references)


def all_references_of(spec: Spec) -> tuple[str, ...]:
    """Return the expressions of the references in a constraint and in its parts."""
    inner = [text for part in parts_of(spec) for text in all_references_of(part)]
    return (*references_of(spec), *inner)


def _field_values(spec: Spec) -> list[Any]:
    values = [getattr(spec, name) for name in type(spec).__slots__]
    dims = [dim for value in values if isinstance(value, Dims) for dim in value.dims]
    return values + dims


def resolve(spec: Spec, scope: Mapping[str, Any]) -> Spec:
    """Return a constraint whose references are replaced by their values.

    Args:
        spec: the constraint.
        scope: views of the drawn arguments.

    Raises:
        ImpossibleError: if the value of a reference is not a number, shape or dtype, as required.
        UnknownError: if a reference cannot be evaluated.
    """
    return _resolve_kind(spec, scope) if has_references(spec) else spec


@singledispatch
def _resolve_kind(spec: Spec, scope: Mapping[str, Any]) -> Spec:
    del scope
    return spec


@_resolve_kind.register(IntRange)
def _ints(spec: IntRange, scope: Mapping[str, Any]) -> Spec:
    return IntRange(_at_least(spec.min, scope), _at_most(spec.max, scope), spec.step)


@_resolve_kind.register(FloatRange)
def _floats(spec: FloatRange, scope: Mapping[str, Any]) -> Spec:
    return replace(spec, min=_number(spec.min, scope), max=_number(spec.max, scope))


@_resolve_kind.register(Strings)
def _strings(spec: Strings, scope: Mapping[str, Any]) -> Spec:
    return replace(
        spec, min_len=_at_least(spec.min_len, scope), max_len=_at_most(spec.max_len, scope)
    )


@_resolve_kind.register(Lists)
def _lists(spec: Lists, scope: Mapping[str, Any]) -> Spec:
    return replace(
        spec,
        item=resolve(spec.item, scope),
        min_len=_at_least(spec.min_len, scope),
        max_len=_at_most(spec.max_len, scope),
    )


@_resolve_kind.register(Tuples)
def _tuples(spec: Tuples, scope: Mapping[str, Any]) -> Spec:
    return Tuples(tuple(resolve(item, scope) for item in spec.items))


@_resolve_kind.register(Anys)
def _anys(spec: Anys, scope: Mapping[str, Any]) -> Spec:
    return Anys(tuple(resolve(option, scope) for option in spec.options))


@_resolve_kind.register(Dicts)
def _dicts(spec: Dicts, scope: Mapping[str, Any]) -> Spec:
    return Dicts(
        resolve(spec.keys, scope),
        resolve(spec.values, scope),
        _at_least(spec.min_size, scope),
        _at_most(spec.max_size, scope),
    )


@_resolve_kind.register(Shapes)
def _shapes(spec: Shapes, scope: Mapping[str, Any]) -> Spec:
    return replace(
        spec, min_dims=_at_least(spec.min_dims, scope), max_dims=_at_most(spec.max_dims, scope)
    )


@_resolve_kind.register(Arrays)
def _arrays(spec: Arrays, scope: Mapping[str, Any]) -> Spec:
    return replace(
        spec,
        dtype=_dtype(spec.dtype, scope),
        shape=_shape(spec.shape, scope),
        min=_number(spec.min, scope),
        max=_number(spec.max, scope),
    )


def _dtype(
    dtype: tuple[str, ...] | Reference | None, scope: Mapping[str, Any]
) -> tuple[str, ...] | None:
    """Return the names of the dtypes; a reference has one name."""
    if not isinstance(dtype, Reference):
        return dtype
    value = evaluate(dtype.expression, scope)
    name = value.name if isinstance(value, DtypeView) else value
    if not isinstance(name, str):
        raise ImpossibleError(dtype.expression)
    return (name,)


def _shape(
    shape: Dims | Reference | Spec | None, scope: Mapping[str, Any]
) -> Dims | Reference | Spec | None:
    """Return a shape's constraint without references."""
    match shape:
        case Reference(expression):
            return dims_of(evaluate(expression, scope))
        case Dims(dims):
            return Dims(tuple(_dim(dim, scope) for dim in dims))
        case None:
            return None
        case _:
            return resolve(shape, scope)


def dims_of(shape: Any) -> Dims:
    """Return the value of an expression, a size or a sequence of sizes, as dimensions.

    Raises:
        ImpossibleError: if the value is not a size or a sequence of sizes.
    """
    sizes = [shape] if isinstance(shape, int) else shape
    if not isinstance(sizes, list | tuple) or not all(type(size) is int for size in sizes):
        raise ImpossibleError(str(shape))
    if any(size < 0 for size in sizes):
        raise ImpossibleError(str(shape))
    return Dims(tuple(sizes))


def _dim(
    dim: int | Reference | SymbolicSize | SymbolicSizes | Spec | None, scope: Mapping[str, Any]
) -> int | Reference | SymbolicSize | SymbolicSizes | Spec | None:
    """Return a size or its constraint without references."""
    if isinstance(dim, Reference):
        size = _number(dim, scope)
        if size is None or size < 0 or size != size // 1:
            raise ImpossibleError(dim.expression)
        return int(size)
    if dim is None or isinstance(dim, int | SymbolicSize | SymbolicSizes):
        return dim
    return resolve(dim, scope)


def _number(bound: Any, scope: Mapping[str, Any]) -> Any:
    """Return the value of a reference, which must be a number; return other bounds unchanged."""
    if not isinstance(bound, Reference):
        return bound
    value = evaluate(bound.expression, scope)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ImpossibleError(bound.expression)
    return value


def _round_bound(bound: Any, scope: Mapping[str, Any], rounding: Callable[[float], int]) -> Any:
    number = _number(bound, scope)
    return number if number is None or isinstance(number, int) else rounding(number)


def _at_least(bound: Any, scope: Mapping[str, Any]) -> Any:
    return _round_bound(bound, scope, math.ceil)


def _at_most(bound: Any, scope: Mapping[str, Any]) -> Any:
    return _round_bound(bound, scope, math.floor)
