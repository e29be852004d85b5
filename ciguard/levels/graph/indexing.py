"""Indexing of tensors in graphs: `tensor[index]`, and `tensor[index] = value`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain import dtypes
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.graphs import ELLIPSIS, SLICE
from ciguard.domain.values import (
    CallValue,
    Explicit,
    LiteralValue,
    MemberValue,
    TensorValue,
    TupleValue,
)
from ciguard.levels.graph.samples import reshaped_tensor

if TYPE_CHECKING:
    import random

    from ciguard.domain.values import ResultValue, Value
    from ciguard.libraries import Subscripts

_ASSIGNMENT_SHARE = 0.3
_MASK_SHARE = 0.3
"""Share of the assignments whose index is a mask of truth values."""
_SCALAR_SHARE = 0.5
"""Share of the assignments whose value is a number."""
_OPEN_SHARE = 0.4
"""Share of the bounds of slices that are left out."""
_NEGATIVE_SHARE = 0.3
"""Share of the slices with a negative step, where the library takes one."""
_NEW_AXIS_SHARE = 0.1
_ELLIPSIS_SHARE = 0.2
_KINDS = ("all", "slice", "slice", "number", "tensor")
"""Kinds of the item for one axis, the frequent ones more than once."""
_STEPS = (None, None, 1, 2, 3)
_MAX_MASK = 64
"""Maximum number of elements of a mask, which are listed one by one."""
_MAX_INDICES = 4
_ATTEMPTS = 4


def indexed(
    rng: random.Random, result: ResultValue, subscripts: Subscripts
) -> tuple[ApiCall, TensorValue] | None:
    """Return a step that reads or assigns elements of a result, and a tensor like its result.

    None if no index was found with which elements remain.
    """
    if not result.form.shape:
        return None
    is_assigned = bool(subscripts.assign) and rng.random() < _ASSIGNMENT_SHARE
    if is_assigned and math.prod(result.form.shape) <= _MAX_MASK and rng.random() < _MASK_SHARE:
        return _masked(rng, result, subscripts)
    for _ in range(_ATTEMPTS):
        index = _index(rng, result.form.shape, subscripts)
        shape = _shape_at(result.form.shape, index)
        if math.prod(shape) == 0:
            continue
        part = reshaped_tensor(result.form, shape)
        if not is_assigned:
            return _call(subscripts.read, result, index), part
        # With the same index twice, any of the values may remain.
        has_tensor = any(isinstance(item, TensorValue) for item in index.items)
        is_scalar = has_tensor or rng.random() < _SCALAR_SHARE
        value = _scalar(rng, part.dtype) if is_scalar else part
        return _call(subscripts.assign, result, index, value), result.form
    return None


def _masked(
    rng: random.Random, result: ResultValue, subscripts: Subscripts
) -> tuple[ApiCall, TensorValue]:
    """Return a step that assigns a number where a mask is true."""
    shape = result.form.shape
    chosen = tuple(rng.choice((False, True)) for _ in range(math.prod(shape)))
    mask = TensorValue("bool", shape, Explicit(chosen))
    value = _scalar(rng, result.form.dtype)
    return _call(subscripts.assign, result, TupleValue((mask,)), value), result.form


def _call(api: str, result: ResultValue, *arguments: Value) -> ApiCall:
    return ApiCall(api=api, kind=CallKind.METHOD, arguments=(result, *arguments))


def _scalar(rng: random.Random, dtype: str) -> LiteralValue:
    """Return a number that a tensor of this dtype can hold."""
    if dtype in dtypes.BOOLEAN:
        return LiteralValue(rng.choice((False, True)))
    if dtype in dtypes.INTEGERS:
        return LiteralValue(rng.randint(0, 5))
    return LiteralValue(round(rng.uniform(-3.0, 3.0), 1))


def _index(rng: random.Random, shape: tuple[int, ...], subscripts: Subscripts) -> TupleValue:
    """Return an index with items for some of the axes of a shape, at most one item a tensor."""
    is_partial = len(shape) > 1 and rng.random() < _ELLIPSIS_SHARE
    dtype = "" if is_partial else subscripts.index_dtype
    items: list[Value] = []
    for size in shape[-1:] if is_partial else shape[: rng.randint(1, len(shape))]:
        if rng.random() < _NEW_AXIS_SHARE:
            items.append(LiteralValue(None))
        items.append(_item(rng, size, subscripts, dtype))
        dtype = "" if isinstance(items[-1], TensorValue) else dtype
    return TupleValue((MemberValue(ELLIPSIS), *items) if is_partial else tuple(items))


def _item(rng: random.Random, size: int, subscripts: Subscripts, dtype: str) -> Value:
    """Return an item of an index for an axis: no tensor if `dtype` is empty."""
    kind = rng.choice(_KINDS)
    if kind == "tensor" and dtype and size:
        count = rng.randint(1, _MAX_INDICES)
        numbers = tuple(rng.randrange(-size, size) for _ in range(count))
        return TensorValue(dtype, (count,), Explicit(numbers))
    if kind == "number" and size:
        return LiteralValue(rng.randrange(-size, size))
    return _slice_of() if kind == "all" else _slice(rng, size, subscripts)


def _slice(rng: random.Random, size: int, subscripts: Subscripts) -> CallValue:
    """Return a slice that may reach beyond the axis."""
    start, stop = (
        None if rng.random() < _OPEN_SHARE else rng.randint(-size - 1, size + 1) for _ in range(2)
    )
    step = rng.choice(_STEPS)
    if subscripts.takes_negative_steps and rng.random() < _NEGATIVE_SHARE:
        step = -(step or 1)
    return _slice_of(start, stop, step)


def _slice_of(
    start: int | None = None, stop: int | None = None, step: int | None = None
) -> CallValue:
    return CallValue(SLICE, (LiteralValue(start), LiteralValue(stop), LiteralValue(step)))


def _shape_at(shape: tuple[int, ...], index: TupleValue) -> tuple[int, ...]:
    """Return the shape of what numpy selects; libraries may order axes otherwise."""
    found: Any = np.empty(shape, bool)[tuple(map(_numpy_item, index.items))]
    return tuple(found.shape)


def _numpy_item(item: Value) -> Any:
    match item:
        case LiteralValue(value):
            return value
        case CallValue(_, bounds):
            return slice(*map(_numpy_item, bounds))
        case TensorValue(_, _, Explicit(numbers)):
            return np.array(numbers)
        case _:
            return ...
