"""Boundary values of tensors: mutators of one aspect, so that all other aspects stay valid."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import Constant, Explicit, Special
from ciguard.values import tables
from ciguard.values.mutation import (
    AnyTensor,
    accepts_special_element,
    insert_special_element,
    replace_element,
    reshape,
)
from ciguard.values.nearby import nearby_integer
from ciguard.values.scope import shape_of

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.values.scope import SamplingScope

_TensorMutator: TypeAlias = Callable[["random.Random", "SamplingScope", AnyTensor], AnyTensor]

_OVERFLOW_SIZES = (2**63 - 1, -(2**63), 2**62, 2**61 + 1, 2**40, 2**32, -(2**31))
"""Integers that overflow, or are rejected at once, if they are sizes."""
_LARGE_SIZES = (2**31 - 1, 2**31, 2**16)
"""Integers that take seconds to allocate if they are sizes, so that they are drawn rarely."""
EDGE_INTS = (*(0, -1) * 12, *_OVERFLOW_SIZES * 3, *(1, -2, 33, -100) * 2, *_LARGE_SIZES)
"""Integers on the boundaries of ranges. An integer that is repeated is drawn more often."""
EDGE_DTYPES = (
    "string", "bool", "complex128", "uint8", "float16", "bfloat16", "int8", "float64",
    "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
"""Dtypes that many kernels do not support."""
WIDE_SIZES = (2**31 - 1, 2**31, 2**32, 2**40)
"""Sizes of a dimension of a tensor without elements: they allocate nothing, but overflow in
products."""
_GROWN_SIZES = (64, 1024, 4096)
"""Sizes that exceed those of the other operands by so much that memory errors are visible."""
_MAX_EXPLICIT_ELEMENTS = 64
_MAX_ELEMENTS = 8192
_EMPTY_PROBABILITY = 0.3
_LARGE_PROBABILITY = 0.2
_SHAPES = ((0,), (), (1,), (1,) * 9, (0, 0), (1, 1))
_SCALAR_OR_VECTOR_SHAPES = ((), (0,), (3,), ())
_FLOAT_EXTREMES = (float("nan"), float("inf"), float("-inf"), 0, 0, -1, 65504.0, 3e38, 1e-38)


def mutate_tensor(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with another shape, dtype or other elements."""
    table = _MUTATORS_BY_DTYPE.get(tensor.dtype, _FLOAT_MUTATORS)
    return table[int(rng.random() * len(table))](rng, scope, tensor)


def _empty_one_dimension(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with a random dimension of size 0."""
    del scope
    if not tensor.shape:
        return reshape(tensor, (0,))
    sizes = list(tensor.shape)
    sizes[int(rng.random() * len(sizes))] = 0
    return reshape(tensor, tuple(sizes))


def _empty_and_widen(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor without elements, but with a huge size."""
    del scope
    sizes = list(tensor.shape) if len(tensor.shape) > 1 else [*tensor.shape, 2, 2][:2]
    wide_axis = int(rng.random() * len(sizes))
    sizes[wide_axis] = WIDE_SIZES[int(rng.random() * len(WIDE_SIZES))]
    sizes[wide_axis - 1] = 0
    return reshape(tensor, tuple(sizes))


def _change_to_listed_shape(
    rng: random.Random,
    scope: SamplingScope,
    tensor: AnyTensor,
    *,
    shapes: tuple[tuple[int, ...], ...],
) -> AnyTensor:
    """Return the tensor with a random shape of a list."""
    del scope
    return reshape(tensor, shapes[int(rng.random() * len(shapes))])


def _change_to_any_shape(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with a random shape that does not depend on the rest of the call."""
    table = tables.shapes(0, 5)
    other = reshape(tensor, table[int(rng.random() * len(table))])
    return _empty_one_dimension(rng, scope, other) if rng.random() < _EMPTY_PROBABILITY else other


def _change_to_other_shape(
    rng: random.Random, scope: SamplingScope, tensor: AnyTensor
) -> AnyTensor:
    """Return the tensor with the shape of another argument, even if this shape does not fit."""
    shapes = [shape for shape in map(shape_of, scope.values.values()) if shape is not None]
    return reshape(tensor, shapes[int(rng.random() * len(shapes))]) if shapes else tensor


def _change_one_size(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with the size of a random dimension set to 1 or increased by 1."""
    del scope
    if not tensor.shape:
        return tensor
    sizes = list(tensor.shape)
    axis = int(rng.random() * len(sizes))
    sizes[axis] = 1 if sizes[axis] > 1 and rng.random() < 0.4 else sizes[axis] + 1  # noqa: PLR2004 - a probability
    return reshape(tensor, tuple(sizes))


def _grow_one_size(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with a random dimension that is much longer than those of the others."""
    del scope
    sizes = list(tensor.shape) or [1]
    axis = int(rng.random() * len(sizes))
    sizes[axis] = _GROWN_SIZES[int(rng.random() * len(_GROWN_SIZES))]
    return reshape(tensor, tuple(sizes)) if prod(sizes) <= _MAX_ELEMENTS else tensor


def _change_rank_by_one(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor without its first dimension, or with an additional one."""
    del scope
    shape = tensor.shape
    # Remove a dimension in most cases: libraries fail more often for a missing than an added one.
    if shape and rng.random() < 0.6:  # noqa: PLR2004 - a probability
        return reshape(tensor, shape[1:])
    return reshape(tensor, (1, *shape))


def _change_dtype(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    del scope
    dtype = EDGE_DTYPES[int(rng.random() * len(EDGE_DTYPES))]
    return type(tensor)(dtype, tensor.shape, tensor.fill)


def _fill_with_constant(
    rng: random.Random, scope: SamplingScope, tensor: AnyTensor, *, constants: tuple[float, ...]
) -> AnyTensor:
    del scope
    number = constants[int(rng.random() * len(constants))]
    return type(tensor)(tensor.dtype, tensor.shape, Constant(number))


def _fill_with_special_values(
    rng: random.Random, scope: SamplingScope, tensor: AnyTensor
) -> AnyTensor:
    del scope
    return type(tensor)(tensor.dtype, tensor.shape, Special(int(rng.random() * 65536)))


def _insert_special(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with one element that is NaN or infinite."""
    del scope
    return insert_special_element(rng, tensor) if accepts_special_element(tensor) else tensor


def _fill_with_edge_integer(
    rng: random.Random, scope: SamplingScope, tensor: AnyTensor
) -> AnyTensor:
    """Return the tensor with all elements equal to an edge integer."""
    del scope
    edge = _edge_integer(rng, tensor.dtype, prod(tensor.shape))
    return type(tensor)(tensor.dtype, tensor.shape, Constant(edge))


def _insert_edge_integer(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with one edge integer among its elements."""
    count = prod(tensor.shape)
    if not 0 < count <= _MAX_EXPLICIT_ELEMENTS:
        return _fill_with_edge_integer(rng, scope, tensor)
    return replace_element(tensor, int(rng.random() * count), _edge_integer(rng, tensor.dtype, 1))


def _edge_integer(rng: random.Random, dtype: str, count: int) -> int:
    """Return an edge integer that a dtype can hold, for `count` equal elements.

    If the drawn integer is outside the dtype's range, an end of the range usually replaces it. For
    a single element this is rare: libraries may read it as a size, and allocating that many
    elements takes long. The product of several such sizes cannot be allocated at all.
    """
    number = EDGE_INTS[int(rng.random() * len(EDGE_INTS))]
    minimum, maximum = element_types.integer_range(dtype)
    if minimum <= number <= maximum:
        return number
    if count > 1 or rng.random() < _LARGE_PROBABILITY:
        return minimum if number < 0 else maximum
    return max(minimum, -1)


def _insert_nearby_integer(
    rng: random.Random, scope: SamplingScope, tensor: AnyTensor
) -> AnyTensor:
    """Return the tensor with an element at or next to a size of the call."""
    minimum, maximum = element_types.integer_range(tensor.dtype)
    number = min(max(nearby_integer(rng, scope), minimum), maximum)
    count = prod(tensor.shape)
    if not 1 < count <= _MAX_EXPLICIT_ELEMENTS:
        return type(tensor)(tensor.dtype, tensor.shape, Constant(number))
    return replace_element(tensor, int(rng.random() * count), number)


def _decrease(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return the tensor with decreasing elements, as no list of offsets or segments has them."""
    del scope
    count = prod(tensor.shape)
    if count > _MAX_EXPLICIT_ELEMENTS:
        return tensor
    minimum, maximum = element_types.integer_range(tensor.dtype)
    first = min(int(rng.random() * 8), maximum)
    elements = tuple([max(first - 2 * position, minimum) for position in range(count)])
    return type(tensor)(tensor.dtype, tensor.shape, Explicit(elements))


_SHAPE_MUTATORS: tuple[_TensorMutator, ...] = (
    *(_empty_one_dimension,) * 3,
    partial(_change_to_listed_shape, shapes=_SHAPES),
    partial(_change_to_listed_shape, shapes=_SCALAR_OR_VECTOR_SHAPES),
    *(_change_to_any_shape,) * 3,
    *(_change_one_size,) * 2,
    *(_change_rank_by_one,) * 2,
    _change_to_other_shape,
    _empty_and_widen,
    _grow_one_size,
    _change_dtype,
)
_FLOAT_MUTATORS: tuple[_TensorMutator, ...] = (
    *_SHAPE_MUTATORS,
    *(partial(_fill_with_constant, constants=_FLOAT_EXTREMES),) * 2,
    _fill_with_special_values,
    _insert_special,
)
"""Mutators of tensors of floating-point, complex and string dtypes."""
_BOOL_MUTATORS: tuple[_TensorMutator, ...] = (
    *_SHAPE_MUTATORS,
    *(partial(_fill_with_constant, constants=(False, True)),) * 2,
)
_INTEGER_MUTATORS: tuple[_TensorMutator, ...] = (
    *_SHAPE_MUTATORS,
    *(_fill_with_edge_integer,) * 3,
    *(_insert_edge_integer,) * 3,
    *(_fill_with_special_values,) * 4,
    *(_insert_nearby_integer,) * 2,
    _decrease,
)
_MUTATORS_BY_DTYPE: Mapping[str, tuple[_TensorMutator, ...]] = {
    **dict.fromkeys(element_types.INTEGERS, _INTEGER_MUTATORS),
    "bool": _BOOL_MUTATORS,
}
