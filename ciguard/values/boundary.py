"""Boundary values: the boundary mutators of the DocTer paper, and further mutators.

A mutator changes one aspect of a conforming value, so that all other aspects stay valid. Libraries
often crash because they do not check a single aspect.

Source: D. Xie et al., DocTer (ISSTA 2022), section 3.3: None, zero, zero dimension, empty list,
empty string, and the ends of the parameter's range.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DtypeValue,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values import tables
from ciguard.values.constraints import Constraint, Float, Int, Optional
from ciguard.values.mutation import (
    Mutation,
    Mutator,
    any_constant,
    constant,
    replace_element,
    reshape,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.values.scope import SamplingScope

_OVERFLOW_SIZES = (2**63 - 1, -(2**63), 2**62, 2**61 + 1, 2**40, 2**32, -(2**31))
"""Integers that overflow, or are rejected at once, if they are sizes."""
_LARGE_SIZES = (2**31 - 1, 2**31, 2**16)
"""Integers that take seconds to allocate if they are sizes, so that they are drawn rarely."""
EDGE_INTS = (*(0, -1) * 12, *_OVERFLOW_SIZES * 3, *(1, -2, 33, -100) * 2, *_LARGE_SIZES)
"""Integers on the boundaries of ranges. An integer that is repeated is drawn more often."""
_EDGE_FLOATS = (
    0.0, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 3.4e38, -3.4e38, 1e-45, 1.7e308,
)  # fmt: skip
_EDGE_TEXTS = ("", "\0", "a" * 300, "é", "%s%n", "-1")
_EDGE_DTYPES = (
    "string", "bool", "complex128", "uint8", "float16", "bfloat16", "int8", "float64",
    "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
_MAX_EXPLICIT_ELEMENTS = 64
_EMPTY_PROBABILITY = 0.3
_LARGE_PROBABILITY = 0.2
_HIGH_RANK_SHAPE = (1,) * 9

_NONE = Mutation("none", constant(LiteralValue(None)))


def boundaries(constraint: Constraint) -> tuple[Mutation, ...]:
    """Return the mutations to boundary values of a parameter, such as the ends of its range."""
    inner = constraint.inner if isinstance(constraint, Optional) else constraint
    return (*_range_mutations(inner), Mutation("boundary", _mutate, 8), _NONE)


def _range_mutations(constraint: Constraint) -> tuple[Mutation, ...]:
    """Return the mutation to the ends of a number's range, and to the ints beyond them."""
    match constraint:
        case Int():
            minimum, maximum = constraint.min, constraint.max
            ends = tuple(map(LiteralValue, (minimum, minimum - 1, maximum, maximum + 1)))
            return (Mutation("range", any_constant(ends), 2),)
        case Float():
            ends = tuple(map(LiteralValue, (constraint.min, constraint.max)))
            return (Mutation("range", any_constant(ends), 2),)
        case _:
            return ()


def _mutate(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    table = _mutators_of(current)
    return table[int(rng.random() * len(table))](rng, scope, current)


def _mutators_of(value: Value) -> tuple[Mutator, ...]:
    """Return the mutators that suit the type of a value."""
    match value:
        case TensorValue() | ArrayValue():
            return (
                _INTEGER_TENSOR_MUTATORS
                if value.dtype in element_types.INTEGERS
                else _TENSOR_MUTATORS
            )
        case LiteralValue(scalar):
            return _SCALAR_MUTATORS.get(type(scalar), _OTHER_MUTATORS)
        case ListValue() | TupleValue():
            return _LIST_MUTATORS
        case CallValue(_, (_, *_)):
            return _CALL_MUTATORS
        case _:
            return _DTYPE_MUTATORS if isinstance(value, DtypeValue) else _OTHER_MUTATORS


def _empty_one_dimension(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the tensor with a random dimension of size 0."""
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    if not current.shape:
        return reshape(current, (0,))
    sizes = list(current.shape)
    sizes[int(rng.random() * len(sizes))] = 0
    return reshape(current, tuple(sizes))


def _change_to_listed_shape(
    rng: random.Random, scope: SamplingScope, current: Value, *, shapes: tuple[tuple[int, ...], ...]
) -> Value:
    """Return the tensor with a random shape of a list."""
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    return reshape(current, shapes[int(rng.random() * len(shapes))])


def _change_to_any_shape(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the tensor with a random shape that does not depend on the rest of the call."""
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    table = tables.shapes(0, 5)
    other = reshape(current, table[int(rng.random() * len(table))])
    return _empty_one_dimension(rng, scope, other) if rng.random() < _EMPTY_PROBABILITY else other


def _change_one_size(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the tensor with the size of a random dimension set to 1 or increased by 1."""
    del scope
    if not isinstance(current, TensorValue | ArrayValue) or not current.shape:
        return current
    sizes = list(current.shape)
    axis = int(rng.random() * len(sizes))
    sizes[axis] = 1 if sizes[axis] > 1 and rng.random() < 0.4 else sizes[axis] + 1  # noqa: PLR2004 - a probability
    return reshape(current, tuple(sizes))


def _change_rank_by_one(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the tensor without its first dimension, or with an additional one."""
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    shape = current.shape
    # Remove a dimension in most cases: libraries fail more often for a missing than an added one.
    if shape and rng.random() < 0.6:  # noqa: PLR2004 - a probability
        return reshape(current, shape[1:])
    return reshape(current, (1, *shape))


def _fill_with_constant(
    rng: random.Random, scope: SamplingScope, current: Value, *, constants: tuple[float, ...]
) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    number = constants[int(rng.random() * len(constants))]
    return type(current)(current.dtype, current.shape, Constant(number))


def _fill_with_edge_integer(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the tensor with all elements equal to an edge integer."""
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    edge = _edge_integer(rng, current.dtype, prod(current.shape))
    return type(current)(current.dtype, current.shape, Constant(edge))


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


def _fill_with_special_values(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    return type(current)(current.dtype, current.shape, Special(int(rng.random() * 65536)))


def _insert_edge_integer(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the tensor with one edge integer among its elements."""
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    count = prod(current.shape)
    if not 0 < count <= _MAX_EXPLICIT_ELEMENTS:
        return _fill_with_edge_integer(rng, scope, current)
    return replace_element(current, int(rng.random() * count), _edge_integer(rng, current.dtype, 1))


def _change_dtype(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    dtype = _EDGE_DTYPES[int(rng.random() * len(_EDGE_DTYPES))]
    return type(current)(dtype, current.shape, current.fill)


def _mutate_first_argument(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the call with its first argument mutated.

    A call without positional arguments, such as one that creates a handle, is unchanged: with a
    mutated argument, it would crash instead of the call under test.
    """
    if not isinstance(current, CallValue) or not current.arguments:
        return current
    first, *rest = current.arguments
    return replace(current, arguments=(_mutate(rng, scope, first), *rest))


def _remove_all_items(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del rng, scope
    return type(current)(()) if isinstance(current, ListValue | TupleValue) else current


def _mutate_one_item(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the sequence with one item mutated."""
    if not isinstance(current, ListValue | TupleValue) or not current.items:
        return ListValue((LiteralValue(-1),))
    items = list(current.items)
    index = int(rng.random() * len(items))
    items[index] = _mutate(rng, scope, items[index])
    return type(current)(tuple(items))


def _replace_items_by_one_mutation(
    rng: random.Random, scope: SamplingScope, current: Value
) -> Value:
    """Return the sequence with all items replaced by the same mutation of the first."""
    if not isinstance(current, ListValue | TupleValue) or not current.items:
        return ListValue((LiteralValue(0),))
    item = _mutate(rng, scope, current.items[0])
    return type(current)((item,) * len(current.items))


def _change_length(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the sequence without its last item, or with the last item repeated."""
    del scope
    if not isinstance(current, ListValue | TupleValue):
        return current
    items = current.items
    if items and rng.random() < 0.5:  # noqa: PLR2004 - a fair coin
        return type(current)(items[:-1])
    return type(current)((*items, *(items[-1:] or (LiteralValue(1),))))


_FLOAT_EXTREMES = (float("nan"), float("inf"), float("-inf"), 0, 0, -1, 65504.0, 3e38, 1e-38)
_SHAPE_MUTATORS: tuple[Mutator, ...] = (
    _empty_one_dimension,
    _empty_one_dimension,
    _empty_one_dimension,
    partial(_change_to_listed_shape, shapes=((0,), (), (1,), _HIGH_RANK_SHAPE, (0, 0), (1, 1))),
    partial(_change_to_listed_shape, shapes=((), (0,), (3,), ())),
    _change_to_any_shape,
    _change_to_any_shape,
    _change_to_any_shape,
    _change_one_size,
    _change_one_size,
    _change_rank_by_one,
    _change_rank_by_one,
    _change_dtype,
)
_TENSOR_MUTATORS: tuple[Mutator, ...] = (
    *_SHAPE_MUTATORS,
    partial(_fill_with_constant, constants=_FLOAT_EXTREMES),
    partial(_fill_with_constant, constants=_FLOAT_EXTREMES),
    _fill_with_special_values,
)
_INTEGER_TENSOR_MUTATORS: tuple[Mutator, ...] = (
    *_SHAPE_MUTATORS,
    _fill_with_edge_integer,
    _fill_with_edge_integer,
    _fill_with_edge_integer,
    _insert_edge_integer,
    _insert_edge_integer,
    _insert_edge_integer,
    _fill_with_special_values,
    _fill_with_special_values,
)
_CALL_MUTATORS: tuple[Mutator, ...] = (_mutate_first_argument,)
_LIST_MUTATORS: tuple[Mutator, ...] = (
    _remove_all_items,
    _mutate_one_item,
    _mutate_one_item,
    _mutate_one_item,
    _replace_items_by_one_mutation,
    _change_length,
)


def _negate(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del rng, scope
    return LiteralValue(value=current == LiteralValue(value=False))


_TEXT_MUTATORS: tuple[Mutator, ...] = (any_constant(tuple(map(LiteralValue, _EDGE_TEXTS))),)
_FLOAT_MUTATORS: tuple[Mutator, ...] = (any_constant(tuple(map(LiteralValue, _EDGE_FLOATS))),)
_SCALAR_MUTATORS: Mapping[type, tuple[Mutator, ...]] = {
    bool: (_negate,),
    int: (any_constant(tuple(map(LiteralValue, EDGE_INTS))),),
    float: _FLOAT_MUTATORS,
    complex: _FLOAT_MUTATORS,
    str: _TEXT_MUTATORS,
    bytes: _TEXT_MUTATORS,
}
_DTYPE_MUTATORS: tuple[Mutator, ...] = (any_constant(tuple(map(DtypeValue, _EDGE_DTYPES))),)
_OTHER_MUTATORS: tuple[Mutator, ...] = (
    any_constant((LiteralValue(0), LiteralValue(""), ListValue(()))),
)
