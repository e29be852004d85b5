"""Samplers of tensors and arrays: shape, dtype and fill, each from a compiled part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    Constant,
    Explicit,
    Fill,
    Special,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.values import tables
from ciguard.values.constraints import Array, Between, Dim, Named, RankOf, SizeOf, Tensor

if TYPE_CHECKING:
    import random

    from ciguard.values.scope import SamplingScope

Shape: TypeAlias = tuple[int, ...]
_DrawShape: TypeAlias = Callable[["random.Random", "SamplingScope"], Shape]
_DrawDtype: TypeAlias = Callable[["random.Random", "SamplingScope"], str]
_DrawFill: TypeAlias = Callable[["random.Random", "SamplingScope", str, Shape], Fill]

_SYMBOL_SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 6, 8)
_MAX_EXPLICIT = 256
"""Above this many elements an explicit fill would make the case too long."""


def tensor_sampler(constraint: Tensor) -> Callable[[random.Random, SamplingScope], Value]:
    """Return a sampler of tensors (of arrays, for `Array`) that conform to `constraint`."""
    make = ArrayValue if isinstance(constraint, Array) else TensorValue
    shape_at = _shape(constraint)
    dtype_at = _dtype(constraint)
    fill_at = _fill(constraint)

    def draw(rng: random.Random, scope: SamplingScope) -> Value:
        dtype = dtype_at(rng, scope)
        shape = shape_at(rng, scope)
        return make(dtype, shape, fill_at(rng, scope, dtype, shape))

    return draw


def tensors_like(first: Value, count: int) -> tuple[Value, ...]:
    """Return `count` tensors of one dtype and shape, their elements drawn apart where they are."""
    if not isinstance(first, TensorValue | ArrayValue) or not isinstance(first.fill, Uniform):
        return (first,) * count
    fill = first.fill
    rest = (replace(first, fill=replace(fill, seed=fill.seed + nth)) for nth in range(1, count))
    return (first, *rest)


def _dtype(constraint: Tensor) -> _DrawDtype:
    table = tables.weighted_dtypes(constraint.dtypes)
    count, allowed = len(table), frozenset(constraint.dtypes)
    only = table[0] if len(set(table)) == 1 else ""

    def draw(rng: random.Random, scope: SamplingScope) -> str:  # noqa: ARG001 - every sampler has one form
        return only or table[int(rng.random() * count)]

    parameter = constraint.dtype_of
    if not parameter:
        return draw

    def same(rng: random.Random, scope: SamplingScope) -> str:
        dtype = scope.dtype(parameter)
        return dtype if dtype is not None and dtype in allowed else draw(rng, scope)

    return same


def _shape(constraint: Tensor) -> _DrawShape:
    draw = _pattern(constraint.shape) if constraint.shape is not None else _pool(constraint.ndim)
    if constraint.shape_of:
        return partial(_same_shape, parameter=constraint.shape_of, otherwise=draw)
    if constraint.broadcast_with:
        return partial(_broadcast, parameter=constraint.broadcast_with, otherwise=draw)
    return draw


def _pool(ndim: tuple[int, int]) -> _DrawShape:
    table = tables.shapes(*ndim)
    count = len(table)
    return lambda rng, scope: table[int(rng.random() * count)]  # noqa: ARG005 - one form


def _same_shape(
    rng: random.Random, scope: SamplingScope, *, parameter: str, otherwise: _DrawShape
) -> Shape:
    shape = scope.shape(parameter)
    return otherwise(rng, scope) if shape is None else shape


def _broadcast(
    rng: random.Random, scope: SamplingScope, *, parameter: str, otherwise: _DrawShape
) -> Shape:
    shape = scope.shape(parameter)
    if shape is None:
        return otherwise(rng, scope)
    pick = rng.random()
    if pick < 0.8 or not shape:  # noqa: PLR2004 - the same shape is what most calls want
        return shape
    drop = int((pick - 0.8) * 5 * (len(shape) + 1))
    kept = shape[drop:]
    return (1, *kept[1:]) if drop < len(shape) and pick * 100 % 1 < 0.5 else kept  # noqa: PLR2004


def _pattern(pattern: tuple[Dim, ...]) -> _DrawShape:
    exact = tuple(dim for dim in pattern if isinstance(dim, int))
    if len(exact) == len(pattern):
        return lambda rng, scope: exact  # noqa: ARG005 - every sampler has one form
    dims = tuple(map(_dim, pattern))
    return lambda rng, scope: tuple([dim(rng, scope) for dim in dims])


def _dim(dim: Dim) -> Callable[[random.Random, SamplingScope], int]:
    match dim:
        case int():
            return lambda rng, scope: dim  # noqa: ARG005 - every sampler has one form
        case str():
            return partial(_symbol, symbol=dim, sizes=_SYMBOL_SIZES)
        case Named(symbol, least, most):
            return partial(_symbol, symbol=symbol, sizes=tuple(range(least, most + 1)))
        case RankOf(parameter):
            return lambda rng, scope: _length(rng, scope.length(parameter))
        case SizeOf(parameter, axis):
            return partial(_size_of, parameter=parameter, axis=axis)
        case Between(least, most):
            span = most - least + 1
            return lambda rng, scope: least + int(rng.random() * span)  # noqa: ARG005 - as above


def _symbol(
    rng: random.Random, scope: SamplingScope, *, symbol: str, sizes: tuple[int, ...]
) -> int:
    size = scope.sizes.get(symbol)
    if size is None:
        size = sizes[int(rng.random() * len(sizes))]
        scope.sizes[symbol] = size
    return size


def _length(rng: random.Random, length: int | None) -> int:
    return 1 + int(rng.random() * 4) if length is None else length


def _size_of(rng: random.Random, scope: SamplingScope, *, parameter: str, axis: int) -> int:
    shape = scope.shape(parameter)
    if shape is None or not -len(shape) <= axis < len(shape):
        return _length(rng, None)
    return shape[axis]


def _fill(constraint: Tensor) -> _DrawFill:
    if constraint.axis_of:
        return _axes(constraint.axis_of)
    by_dtype = {dtype: fills_of(constraint, dtype) for dtype in constraint.dtypes}

    def draw(rng: random.Random, scope: SamplingScope, dtype: str, shape: Shape) -> Fill:  # noqa: ARG001
        table = by_dtype[dtype]
        return table[int(rng.random() * len(table))]

    sampler = _indices(constraint.index_of, draw) if constraint.index_of else draw
    return _increasing(sampler) if constraint.increasing else sampler


def fills_of(constraint: Tensor, dtype: str) -> tuple[Fill, ...]:
    """Return the table of fills that tensors of a dtype are drawn from."""
    low, high = constraint.low, constraint.high
    table = tables.fills(dtype, low, high)
    if not constraint.nan or dtype not in element_types.FLOATING:
        return table
    return table + _special_fills(has_range=low is not None or high is not None)


def _special_fills(*, has_range: bool) -> tuple[Fill, ...]:
    seeds = range(_SPECIAL_FILLS)
    return tuple(Constant(float("nan")) if has_range else Special(seed) for seed in seeds)


_SPECIAL_FILLS = 32
"""Beside 128 others, so that one in five is special."""


def _indices(parameter: str, otherwise: _DrawFill) -> _DrawFill:
    def draw(rng: random.Random, scope: SamplingScope, dtype: str, shape: Shape) -> Fill:
        indexed = scope.shape(parameter)
        if not indexed or dtype in element_types.FLOATING:
            return otherwise(rng, scope, dtype, shape)
        return Uniform(int(rng.random() * 65536), 0.0, float(max(indexed[0] - 1, 0)))

    return draw


def _axes(parameter: str) -> _DrawFill:
    def draw(rng: random.Random, scope: SamplingScope, dtype: str, shape: Shape) -> Fill:  # noqa: ARG001
        described = scope.shape(parameter)
        rank = len(described) if described else 1
        count = prod(shape)
        if count == 1:
            return Constant(int(rng.random() * 2 * rank) - rank if described else 0)
        axes = sorted(range(rank), key=lambda axis: (rng.random(), axis))
        return Explicit(tuple((axes * (count // rank + 1))[:count]))

    return draw


def _increasing(unordered: _DrawFill) -> _DrawFill:
    def draw(rng: random.Random, scope: SamplingScope, dtype: str, shape: Shape) -> Fill:
        fill = unordered(rng, scope, dtype, shape)
        count = prod(shape)
        if not isinstance(fill, Uniform):
            return fill
        if count > _MAX_EXPLICIT:
            return Constant(fill.low if dtype in element_types.FLOATING else int(fill.low))
        low, span = fill.low, fill.high - fill.low
        if dtype in element_types.FLOATING:
            return Explicit(tuple(sorted(low + rng.random() * span for _ in range(count))))
        return Explicit(
            tuple(sorted(int(low) + int(rng.random() * (span + 1)) for _ in range(count)))
        )

    return draw
