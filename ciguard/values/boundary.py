"""Values on the edge: the boundary mutators of DocTer, and those that kill libraries in practice.

What a mutator does depends on the conforming value it is given, so that the rest of the call, and
the rest of the value, stay valid: a library that has checked everything else crashes on the one
thing it has not.

Source: D. Xie et al., DocTer (ISSTA 2022), section 3.3: None, zero, zero dimension, empty list,
empty string, and the ends of a parameter's own range.
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
    reshaped,
    with_element,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.values.scope import SamplingScope

_OVERFLOWING = (2**63 - 1, -(2**63), 2**62, 2**61 + 1, 2**40, 2**32, -(2**31))
"""As sizes they overflow, or are refused at once."""
_LARGE = (2**31 - 1, 2**31, 2**16)
"""As sizes they are allocated and filled, which takes seconds: so they are drawn rarely."""
EDGE_INTS = (*(0, -1) * 12, *_OVERFLOWING * 3, *(1, -2, 33, -100) * 2, *_LARGE)
_EDGE_FLOATS = (
    0.0, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 3.4e38, -3.4e38, 1e-45, 1.7e308,
)  # fmt: skip
_EDGE_TEXTS = ("", "\0", "a" * 300, "é", "%s%n", "-1")
_EDGE_DTYPES = (
    "string", "bool", "complex128", "uint8", "float16", "bfloat16", "int8", "float64",
    "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
_EXPLICIT_ELEMENTS = 64
_EMPTY_SHARE = 0.3
_LARGE_SHARE = 0.2
_DEEP = (1,) * 9

_NONE = Mutation("none", constant(LiteralValue(None)))


def boundaries(constraint: Constraint) -> tuple[Mutation, ...]:
    """Return the boundary mutations for a parameter, those of its own range included."""
    inner = constraint.inner if isinstance(constraint, Optional) else constraint
    return (*_own_ends(inner), Mutation("boundary", _boundary_of, 8), _NONE)


def _own_ends(constraint: Constraint) -> tuple[Mutation, ...]:
    match constraint:
        case Int():
            least, most = constraint.min, constraint.max
            ends = tuple(map(LiteralValue, (least, least - 1, most, most + 1)))
            return (Mutation("range", any_constant(ends), 2),)
        case Float():
            ends = tuple(map(LiteralValue, (constraint.min, constraint.max)))
            return (Mutation("range", any_constant(ends), 2),)
        case _:
            return ()


def _boundary_of(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    table = _table_for(current)
    return table[int(rng.random() * len(table))](rng, scope, current)


def _table_for(value: Value) -> tuple[Mutator, ...]:
    match value:
        case TensorValue() | ArrayValue():
            return _OF_INTEGER_TENSOR if value.dtype in element_types.INTEGERS else _OF_TENSOR
        case LiteralValue(scalar):
            return _OF_SCALAR.get(type(scalar), _OF_OTHER)
        case ListValue() | TupleValue():
            return _OF_LIST
        case CallValue(_, (_, *_)):
            return _OF_CALL
        case _:
            return _OF_DTYPE if isinstance(value, DtypeValue) else _OF_OTHER


def _zero_dimension(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    if not current.shape:
        return reshaped(current, (0,))
    sizes = list(current.shape)
    sizes[int(rng.random() * len(sizes))] = 0
    return reshaped(current, tuple(sizes))


def _shaped(
    rng: random.Random, scope: SamplingScope, current: Value, *, shapes: tuple[tuple[int, ...], ...]
) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    return reshaped(current, shapes[int(rng.random() * len(shapes))])


def _any_shape(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Give the tensor a shape that has nothing to do with the rest of the call."""
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    table = tables.shapes(0, 5)
    other = reshaped(current, table[int(rng.random() * len(table))])
    return _zero_dimension(rng, scope, other) if rng.random() < _EMPTY_SHARE else other


def _one_size_off(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue) or not current.shape:
        return current
    sizes = list(current.shape)
    axis = int(rng.random() * len(sizes))
    sizes[axis] = 1 if sizes[axis] > 1 and rng.random() < 0.4 else sizes[axis] + 1  # noqa: PLR2004
    return reshaped(current, tuple(sizes))


def _one_rank_off(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    shape = current.shape
    if shape and rng.random() < 0.6:  # noqa: PLR2004 - fewer dimensions break more than more do
        return reshaped(current, shape[1:])
    return reshaped(current, (1, *shape))


def _filled(
    rng: random.Random, scope: SamplingScope, current: Value, *, constants: tuple[float, ...]
) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    number = constants[int(rng.random() * len(constants))]
    return type(current)(current.dtype, current.shape, Constant(number))


def _filled_with_edge(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    edge = _edge_int(rng, current.dtype, prod(current.shape))
    return type(current)(current.dtype, current.shape, Constant(edge))


def _edge_int(rng: random.Random, dtype: str, alike: int) -> int:
    """Return an edge integer of a dtype, for `alike` elements that will have it.

    What lies beyond the dtype becomes its own end. One such end as a size is merely large, and
    costs a second; two or more multiply to what nobody can allocate.
    """
    number = EDGE_INTS[int(rng.random() * len(EDGE_INTS))]
    least, most = element_types.integer_range(dtype)
    if least <= number <= most:
        return number
    if alike > 1 or rng.random() < _LARGE_SHARE:
        return least if number < 0 else most
    return max(least, -1)


def _special_fill(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    return type(current)(current.dtype, current.shape, Special(int(rng.random() * 65536)))


def _one_element(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Put one extreme integer among valid ones."""
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    count = prod(current.shape)
    if not 0 < count <= _EXPLICIT_ELEMENTS:
        return _filled_with_edge(rng, scope, current)
    return with_element(current, int(rng.random() * count), _edge_int(rng, current.dtype, 1))


def _other_dtype(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    dtype = _EDGE_DTYPES[int(rng.random() * len(_EDGE_DTYPES))]
    return type(current)(dtype, current.shape, current.fill)


def _first_argument(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Bend what an object is made from.

    Objects made from named arguments only, such as handles, stay whole: what makes them would
    crash in the place of the call under test.
    """
    if not isinstance(current, CallValue) or not current.arguments:
        return current
    first, *rest = current.arguments
    return replace(current, arguments=(_boundary_of(rng, scope, first), *rest))


def _empty(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del rng, scope
    return type(current)(()) if isinstance(current, ListValue | TupleValue) else current


def _one_item(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Put the boundary value of one item among the valid others."""
    if not isinstance(current, ListValue | TupleValue) or not current.items:
        return ListValue((LiteralValue(-1),))
    items = list(current.items)
    place = int(rng.random() * len(items))
    items[place] = _boundary_of(rng, scope, items[place])
    return type(current)(tuple(items))


def _all_items(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    if not isinstance(current, ListValue | TupleValue) or not current.items:
        return ListValue((LiteralValue(0),))
    item = _boundary_of(rng, scope, current.items[0])
    return type(current)((item,) * len(current.items))


def _resized(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, ListValue | TupleValue):
        return current
    items = current.items
    if items and rng.random() < 0.5:  # noqa: PLR2004 - a fair coin
        return type(current)(items[:-1])
    return type(current)((*items, *(items[-1:] or (LiteralValue(1),))))


_FLOAT_EXTREMES = (float("nan"), float("inf"), float("-inf"), 0, 0, -1, 65504.0, 3e38, 1e-38)
_OF_SHAPE: tuple[Mutator, ...] = (
    _zero_dimension,
    _zero_dimension,
    _zero_dimension,
    partial(_shaped, shapes=((0,), (), (1,), _DEEP, (0, 0), (1, 1))),
    partial(_shaped, shapes=((), (0,), (3,), ())),
    _any_shape,
    _any_shape,
    _any_shape,
    _one_size_off,
    _one_size_off,
    _one_rank_off,
    _one_rank_off,
    _other_dtype,
)
_OF_TENSOR: tuple[Mutator, ...] = (
    *_OF_SHAPE,
    partial(_filled, constants=_FLOAT_EXTREMES),
    partial(_filled, constants=_FLOAT_EXTREMES),
    _special_fill,
)
_OF_INTEGER_TENSOR: tuple[Mutator, ...] = (
    *_OF_SHAPE,
    _filled_with_edge,
    _filled_with_edge,
    _filled_with_edge,
    _one_element,
    _one_element,
    _one_element,
    _special_fill,
    _special_fill,
)
_OF_CALL: tuple[Mutator, ...] = (_first_argument,)
_OF_LIST: tuple[Mutator, ...] = (_empty, _one_item, _one_item, _one_item, _all_items, _resized)


def _negated(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del rng, scope
    return LiteralValue(value=current == LiteralValue(value=False))


_OF_TEXT: tuple[Mutator, ...] = (any_constant(tuple(map(LiteralValue, _EDGE_TEXTS))),)
_OF_FLOAT: tuple[Mutator, ...] = (any_constant(tuple(map(LiteralValue, _EDGE_FLOATS))),)
_OF_SCALAR: Mapping[type, tuple[Mutator, ...]] = {
    bool: (_negated,),
    int: (any_constant(tuple(map(LiteralValue, EDGE_INTS))),),
    float: _OF_FLOAT,
    complex: _OF_FLOAT,
    str: _OF_TEXT,
    bytes: _OF_TEXT,
}
_OF_DTYPE: tuple[Mutator, ...] = (any_constant(tuple(map(DtypeValue, _EDGE_DTYPES))),)
_OF_OTHER: tuple[Mutator, ...] = (any_constant((LiteralValue(0), LiteralValue(""), ListValue(()))),)
