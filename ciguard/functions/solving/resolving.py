"""References become numbers: a constraint of one call, in which its other arguments are drawn."""

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
    FloatsIn,
    IntsIn,
    Lists,
    Reference,
    Shapes,
    SizeOfCall,
    SizesOfCall,
    Spec,
    Strings,
    Tuples,
    parts_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class ImpossibleError(Exception):
    """No value is left for the other arguments of this call."""


def refers(spec: Spec) -> bool:
    """Return whether some part of a constraint follows from other arguments."""
    return bool(references_of(spec)) or any(map(refers, parts_of(spec)))


def references_of(spec: Spec) -> tuple[str, ...]:
    """Return the expressions of other arguments that a constraint has, its parts left out."""
    found = [value for value in _values(spec) if isinstance(value, Reference)]
    return tuple(reference.expression for reference in found)


def every_reference_of(spec: Spec) -> tuple[str, ...]:
    """Return the expressions of other arguments that a constraint and its parts have."""
    inner = [text for part in parts_of(spec) for text in every_reference_of(part)]
    return (*references_of(spec), *inner)


def _values(spec: Spec) -> list[Any]:
    values = [getattr(spec, name) for name in type(spec).__slots__]
    dims = [dim for value in values if isinstance(value, Dims) for dim in value.dims]
    return values + dims


def resolved(spec: Spec, scope: Mapping[str, Any]) -> Spec:
    """Return a constraint with numbers in the place of references.

    Args:
        spec: the constraint.
        scope: views of the arguments that are drawn (`expressions.view`).

    Raises:
        ImpossibleError: if a reference is worth nothing that fits.
        UnknownError: if what a reference is worth cannot be told.
    """
    return _resolved(spec, scope) if refers(spec) else spec


@singledispatch
def _resolved(spec: Spec, scope: Mapping[str, Any]) -> Spec:
    del scope
    return spec


@_resolved.register(IntsIn)
def _ints(spec: IntsIn, scope: Mapping[str, Any]) -> Spec:
    return IntsIn(_at_least(spec.min, scope), _at_most(spec.max, scope), spec.step)


@_resolved.register(FloatsIn)
def _floats(spec: FloatsIn, scope: Mapping[str, Any]) -> Spec:
    return replace(spec, min=_number(spec.min, scope), max=_number(spec.max, scope))


@_resolved.register(Strings)
def _strings(spec: Strings, scope: Mapping[str, Any]) -> Spec:
    return replace(
        spec, min_len=_at_least(spec.min_len, scope), max_len=_at_most(spec.max_len, scope)
    )


@_resolved.register(Lists)
def _lists(spec: Lists, scope: Mapping[str, Any]) -> Spec:
    return replace(
        spec,
        item=resolved(spec.item, scope),
        min_len=_at_least(spec.min_len, scope),
        max_len=_at_most(spec.max_len, scope),
    )


@_resolved.register(Tuples)
def _tuples(spec: Tuples, scope: Mapping[str, Any]) -> Spec:
    return Tuples(tuple(resolved(item, scope) for item in spec.items))


@_resolved.register(Anys)
def _anys(spec: Anys, scope: Mapping[str, Any]) -> Spec:
    return Anys(tuple(resolved(option, scope) for option in spec.options))


@_resolved.register(Dicts)
def _dicts(spec: Dicts, scope: Mapping[str, Any]) -> Spec:
    return Dicts(
        resolved(spec.keys, scope),
        resolved(spec.values, scope),
        _at_least(spec.min_size, scope),
        _at_most(spec.max_size, scope),
    )


@_resolved.register(Shapes)
def _shapes(spec: Shapes, scope: Mapping[str, Any]) -> Spec:
    return replace(
        spec, min_dims=_at_least(spec.min_dims, scope), max_dims=_at_most(spec.max_dims, scope)
    )


@_resolved.register(Arrays)
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
    if not isinstance(dtype, Reference):
        return dtype
    found = evaluate(dtype.expression, scope)
    name = found.name if isinstance(found, DtypeView) else found
    if not isinstance(name, str):
        raise ImpossibleError(dtype.expression)
    return (name,)


def _shape(
    shape: Dims | Reference | Spec | None, scope: Mapping[str, Any]
) -> Dims | Reference | Spec | None:
    match shape:
        case Reference(expression):
            return dims_of(evaluate(expression, scope))
        case Dims(dims):
            return Dims(tuple(_dim(dim, scope) for dim in dims))
        case None:
            return None
        case _:
            return resolved(shape, scope)


def dims_of(shape: Any) -> Dims:
    """Return a shape that an expression is worth.

    Raises:
        ImpossibleError: if it is no shape.
    """
    sizes = [shape] if isinstance(shape, int) else shape
    if not isinstance(sizes, list | tuple) or not all(type(size) is int for size in sizes):
        raise ImpossibleError(str(shape))
    if any(size < 0 for size in sizes):
        raise ImpossibleError(str(shape))
    return Dims(tuple(sizes))


def _dim(
    dim: int | Reference | SizeOfCall | SizesOfCall | Spec | None, scope: Mapping[str, Any]
) -> int | Reference | SizeOfCall | SizesOfCall | Spec | None:
    if isinstance(dim, Reference):
        size = _number(dim, scope)
        if size is None or size < 0 or size != size // 1:
            raise ImpossibleError(dim.expression)
        return int(size)
    if dim is None or isinstance(dim, int | SizeOfCall | SizesOfCall):
        return dim
    return resolved(dim, scope)


def _number(bound: Any, scope: Mapping[str, Any]) -> Any:
    if not isinstance(bound, Reference):
        return bound
    found = evaluate(bound.expression, scope)
    if isinstance(found, bool) or not isinstance(found, int | float) or math.isnan(found):
        raise ImpossibleError(bound.expression)
    return found


def _whole(bound: Any, scope: Mapping[str, Any], direction: Callable[[float], int]) -> Any:
    found = _number(bound, scope)
    return found if found is None or isinstance(found, int) else direction(found)


def _at_least(bound: Any, scope: Mapping[str, Any]) -> Any:
    return _whole(bound, scope, math.ceil)


def _at_most(bound: Any, scope: Mapping[str, Any]) -> Any:
    return _whole(bound, scope, math.floor)
