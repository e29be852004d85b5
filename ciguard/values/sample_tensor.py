"""Samplers of tensors and arrays, which combine samplers of shape, dtype and fill."""

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
"""Sizes that a symbol without a range may stand for; repeated sizes are drawn more often."""
_MAX_EXPLICIT = 256
"""Maximum number of elements of an explicit fill, to keep cases short."""


def tensor_sampler(constraint: Tensor) -> Callable[[random.Random, SamplingScope], Value]:
    """Return a sampler of tensors, or of arrays for `Array`, that conform to `constraint`."""
    value_type = ArrayValue if isinstance(constraint, Array) else TensorValue
    draw_shape = _shape_sampler(constraint)
    draw_dtype = _dtype_sampler(constraint)
    draw_fill = _fill_sampler(constraint)

    def draw(rng: random.Random, scope: SamplingScope) -> Value:
        dtype = draw_dtype(rng, scope)
        shape = draw_shape(rng, scope)
        return value_type(dtype, shape, draw_fill(rng, scope, dtype, shape))

    return draw


def tensors_like(first: Value, count: int) -> tuple[Value, ...]:
    """Return `count` tensors of one dtype and shape, with different random elements."""
    if not isinstance(first, TensorValue | ArrayValue) or not isinstance(first.fill, Uniform):
        return (first,) * count
    fill = first.fill
    rest = (
        replace(first, fill=replace(fill, seed=fill.seed + offset)) for offset in range(1, count)
    )
    return (first, *rest)


def _dtype_sampler(constraint: Tensor) -> _DrawDtype:
    table = tables.weighted_dtypes(constraint.dtypes)
    count, allowed = len(table), frozenset(constraint.dtypes)
    only = table[0] if len(set(table)) == 1 else ""

    def draw(rng: random.Random, scope: SamplingScope) -> str:  # noqa: ARG001 - samplers have these parameters
        return only or table[int(rng.random() * count)]

    parameter = constraint.dtype_of
    if not parameter:
        return draw

    def draw_same(rng: random.Random, scope: SamplingScope) -> str:
        dtype = scope.dtype(parameter)
        return dtype if dtype is not None and dtype in allowed else draw(rng, scope)

    return draw_same


def _shape_sampler(constraint: Tensor) -> _DrawShape:
    draw = (
        _pattern_sampler(constraint.shape)
        if constraint.shape is not None
        else _table_shape_sampler(constraint.ndim)
    )
    if constraint.shape_of:
        return partial(_draw_same_shape, parameter=constraint.shape_of, fallback=draw)
    if constraint.broadcast_with:
        return partial(_draw_broadcast_shape, parameter=constraint.broadcast_with, fallback=draw)
    return draw


def _table_shape_sampler(ndim: tuple[int, int]) -> _DrawShape:
    """Return a sampler that draws shapes with a rank in a range from a table."""
    table = tables.shapes(*ndim)
    count = len(table)
    return lambda rng, scope: table[int(rng.random() * count)]  # noqa: ARG005 - samplers have these parameters


def _draw_same_shape(
    rng: random.Random, scope: SamplingScope, *, parameter: str, fallback: _DrawShape
) -> Shape:
    """Return the shape of a parameter's value, or draw one if it has none."""
    shape = scope.shape(parameter)
    return fallback(rng, scope) if shape is None else shape


def _draw_broadcast_shape(
    rng: random.Random, scope: SamplingScope, *, parameter: str, fallback: _DrawShape
) -> Shape:
    """Draw a shape that broadcasts with that of a parameter's value, mostly the same shape."""
    shape = scope.shape(parameter)
    if shape is None:
        return fallback(rng, scope)
    pick = rng.random()
    if pick < 0.8 or not shape:  # noqa: PLR2004 - four calls in five get the same shape
        return shape
    dropped_count = int((pick - 0.8) * 5 * (len(shape) + 1))
    remaining = shape[dropped_count:]
    return (1, *remaining[1:]) if dropped_count < len(shape) and pick * 100 % 1 < 0.5 else remaining  # noqa: PLR2004 - a second random number, from the digits of the first


def _pattern_sampler(pattern: tuple[Dim, ...]) -> _DrawShape:
    """Return a sampler of shapes whose sizes follow a pattern."""
    exact = tuple(dim for dim in pattern if isinstance(dim, int))
    if len(exact) == len(pattern):
        return lambda rng, scope: exact  # noqa: ARG005 - samplers have these parameters
    dims = tuple(map(_dim_sampler, pattern))
    return lambda rng, scope: tuple([dim(rng, scope) for dim in dims])


def _dim_sampler(dim: Dim) -> Callable[[random.Random, SamplingScope], int]:
    """Return a sampler of the size of one dimension."""
    match dim:
        case int():
            return lambda rng, scope: dim  # noqa: ARG005 - samplers have these parameters
        case str():
            return partial(_draw_symbol_size, symbol=dim, sizes=_SYMBOL_SIZES)
        case Named(symbol, minimum, maximum):
            return partial(
                _draw_symbol_size, symbol=symbol, sizes=tuple(range(minimum, maximum + 1))
            )
        case RankOf(parameter):
            return lambda rng, scope: _length_or_random(rng, scope.length(parameter))
        case SizeOf(parameter, axis):
            return partial(_draw_size_of, parameter=parameter, axis=axis)
        case Between(minimum, maximum):
            span = maximum - minimum + 1
            return lambda rng, scope: minimum + int(rng.random() * span)  # noqa: ARG005 - as above


def _draw_symbol_size(
    rng: random.Random, scope: SamplingScope, *, symbol: str, sizes: tuple[int, ...]
) -> int:
    """Return a symbol's size, or draw it and store it in the scope."""
    size = scope.sizes.get(symbol)
    if size is None:
        size = sizes[int(rng.random() * len(sizes))]
        scope.sizes[symbol] = size
    return size


def _length_or_random(rng: random.Random, length: int | None) -> int:
    return 1 + int(rng.random() * 4) if length is None else length


def _draw_size_of(rng: random.Random, scope: SamplingScope, *, parameter: str, axis: int) -> int:
    """Return the size of an axis of a parameter's value; a random size if there is none."""
    shape = scope.shape(parameter)
    if shape is None or not -len(shape) <= axis < len(shape):
        return _length_or_random(rng, None)
    return shape[axis]


def _fill_sampler(constraint: Tensor) -> _DrawFill:
    """Return a sampler of fills that satisfy the constraint of the elements."""
    if constraint.axis_of:
        return _axis_sampler(constraint.axis_of)
    by_dtype: dict[str, tuple[Fill, ...]] = {}  # the tables of the dtypes that were drawn

    def draw(rng: random.Random, scope: SamplingScope, dtype: str, shape: Shape) -> Fill:  # noqa: ARG001 - samplers of fills have these parameters
        table = by_dtype.get(dtype)
        if table is None:
            table = by_dtype[dtype] = fill_table(constraint, dtype)
        return table[int(rng.random() * len(table))]

    sampler = _index_sampler(constraint.index_of, draw) if constraint.index_of else draw
    return _increasing_sampler(sampler) if constraint.increasing else sampler


def fill_table(constraint: Tensor, dtype: str) -> tuple[Fill, ...]:
    """Return the fills from which those of tensors of a dtype are drawn."""
    low, high = constraint.low, constraint.high
    table = tables.fills(dtype, low, high)
    if not constraint.nan or dtype not in element_types.FLOATING:
        return table
    return table + _special_fills(has_range=low is not None or high is not None)


def _special_fills(*, has_range: bool) -> tuple[Fill, ...]:
    seeds = range(_SPECIAL_FILL_COUNT)
    return tuple(Constant(float("nan")) if has_range else Special(seed) for seed in seeds)


_SPECIAL_FILL_COUNT = 32
"""Number of fills with special values, added to a table of 128 other fills: one fill in five."""


def _index_sampler(parameter: str, fallback: _DrawFill) -> _DrawFill:
    """Return a sampler of fills with indices into the first dimension of a parameter's value."""

    def draw(rng: random.Random, scope: SamplingScope, dtype: str, shape: Shape) -> Fill:
        indexed = scope.shape(parameter)
        if not indexed or dtype in element_types.FLOATING:
            return fallback(rng, scope, dtype, shape)
        return Uniform(int(rng.random() * 65536), 0.0, float(max(indexed[0] - 1, 0)))

    return draw


def _axis_sampler(parameter: str) -> _DrawFill:
    """Return a sampler of fills with axes of a parameter's value."""

    def draw(rng: random.Random, scope: SamplingScope, dtype: str, shape: Shape) -> Fill:  # noqa: ARG001 - as above
        indexed = scope.shape(parameter)
        rank = len(indexed) if indexed else 1
        count = prod(shape)
        if count == 1:
            return Constant(int(rng.random() * 2 * rank) - rank if indexed else 0)
        if count > _MAX_EXPLICIT:
            return Constant(0)
        axes = sorted(range(rank), key=lambda axis: (rng.random(), axis))
        return Explicit(tuple((axes * (count // rank + 1))[:count]))

    return draw


def _increasing_sampler(unordered: _DrawFill) -> _DrawFill:
    """Return a sampler that draws with `unordered` and sorts the elements."""

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
