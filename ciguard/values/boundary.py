"""Boundary values: the boundary mutators of the DocTer paper, and further mutators.

A mutator changes one aspect of a conforming value, so that all other aspects stay valid. Libraries
often crash because they do not check a single aspect.

Source: D. Xie et al., DocTer (ISSTA 2022), section 3.3: None, zero, zero dimension, empty list,
empty string, and the ends of the parameter's range.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values.boundary_tensor import EDGE_DTYPES, EDGE_INTS, mutate_tensor
from ciguard.values.constraints import Constraint, Float, Int, OneOf, Optional
from ciguard.values.mutation import Mutation, Mutator, any_constant, constant
from ciguard.values.nearby import nearby_integer

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.values.scope import SamplingScope

_EDGE_FLOATS = (
    0.0, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 3.4e38, -3.4e38, 1e-45, 1.7e308,
)  # fmt: skip
_EDGE_TEXTS = (
    "", "\0", "a" * 300, "é", "%s%n", "-1", "9" * 20, "nan", "NCHW", "EXPLICIT", "meta", "ii->",
    "...,...",
)  # fmt: skip
"""Texts that are malformed, or that other parameters of the library accept."""
_REPEATED_TIMES = 10
_NONE = LiteralValue(None)


def boundaries(constraint: Constraint) -> tuple[Mutation, ...]:
    """Return the mutations to boundary values of a parameter, such as the ends of its range."""
    inner = constraint.inner if isinstance(constraint, Optional) else constraint
    return (
        *_range_mutations(inner),
        Mutation("boundary", _mutate, 16),
        Mutation("other argument", _copy_other_argument),
        Mutation("none", constant(_NONE)),
    )


def _range_mutations(constraint: Constraint) -> tuple[Mutation, ...]:
    """Return the mutation to the ends of a number's range, or to any of the listed values."""
    match constraint:
        case Int():
            minimum, maximum = constraint.min, constraint.max
            ends = tuple(map(LiteralValue, (minimum, minimum - 1, maximum, maximum + 1)))
            return (Mutation("range", any_constant(ends), 4),)
        case Float():
            ends = tuple(map(LiteralValue, (constraint.min, constraint.max)))
            return (Mutation("range", any_constant(ends), 4),)
        case OneOf(values) if len(set(values)) > 1:
            # Values that are listed repeatedly are those that work, and the others the boundary.
            members = tuple(dict.fromkeys(values))
            is_of_objects = all(isinstance(value, CallValue) for value in members)
            return (Mutation("member", any_constant(members), 20 if is_of_objects else 4),)
        case _:
            return ()


def _mutate(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    if isinstance(current, TensorValue | ArrayValue):
        return mutate_tensor(rng, scope, current)
    table = _mutators_of(current)
    return table[int(rng.random() * len(table))](rng, scope, current)


def _mutators_of(value: Value) -> tuple[Mutator, ...]:
    """Return the mutators that suit the type of a value that is not a tensor."""
    match value:
        case LiteralValue(scalar):
            return _SCALAR_MUTATORS.get(type(scalar), _OTHER_MUTATORS)
        case ListValue() | TupleValue():
            return _LIST_MUTATORS
        case CallValue(_, (_, *_)):
            return _CALL_MUTATORS
        case _:
            return _DTYPE_MUTATORS if isinstance(value, DtypeValue) else _OTHER_MUTATORS


def _copy_other_argument(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the value of another argument; unchanged if there is none."""
    values = [value for value in scope.values.values() if value is not current]
    return values[int(rng.random() * len(values))] if values else current


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


def _zero_items(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the sequence of integers with one item 0, or all of them; others are unchanged."""
    del scope
    if not isinstance(current, ListValue | TupleValue) or not current.items:
        return current
    count = len(current.items)
    if not all(isinstance(item, LiteralValue) for item in current.items):
        return current
    zero = LiteralValue(0)
    index = int(rng.random() * 2 * count)
    items = [zero if i == index or index >= count else v for i, v in enumerate(current.items)]
    return type(current)(tuple(items))


def _change_length(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the sequence without its last item, or with it repeated once or many times."""
    del scope
    if not isinstance(current, ListValue | TupleValue):
        return current
    items, pick = current.items, rng.random()
    if items and pick < 0.5:  # noqa: PLR2004 - a fair coin
        return type(current)(items[:-1])
    last = items[-1:] or (LiteralValue(1),)
    return type(current)((*items, *last * (_REPEATED_TIMES if pick > 0.9 else 1)))  # noqa: PLR2004 - a probability


def _replace_with_nearby_integer(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del current
    return LiteralValue(nearby_integer(rng, scope))


def _negate(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del rng, scope
    return LiteralValue(value=current == LiteralValue(value=False))


_EDGE_INT = any_constant(tuple(map(LiteralValue, EDGE_INTS)))
_TEXT_MUTATORS: tuple[Mutator, ...] = (any_constant(tuple(map(LiteralValue, _EDGE_TEXTS))),)
_FLOAT_MUTATORS: tuple[Mutator, ...] = (any_constant(tuple(map(LiteralValue, _EDGE_FLOATS))),)
_SCALAR_MUTATORS: Mapping[type, tuple[Mutator, ...]] = {
    bool: (_negate,),
    int: (_EDGE_INT, _EDGE_INT, _EDGE_INT, _replace_with_nearby_integer),
    float: _FLOAT_MUTATORS,
    complex: _FLOAT_MUTATORS,
    str: _TEXT_MUTATORS,
    bytes: _TEXT_MUTATORS,
}
_LIST_MUTATORS: tuple[Mutator, ...] = (
    *(_remove_all_items,) * 2,
    *(_zero_items,) * 2,
    _mutate_one_item,
    _mutate_one_item,
    _mutate_one_item,
    *(_replace_items_by_one_mutation,) * 2,
    _change_length,
)
_CALL_MUTATORS: tuple[Mutator, ...] = (_mutate_first_argument,)
_DTYPE_MUTATORS: tuple[Mutator, ...] = (any_constant(tuple(map(DtypeValue, EDGE_DTYPES))),)
_OTHER_MUTATORS: tuple[Mutator, ...] = (
    any_constant((LiteralValue(0), LiteralValue(""), ListValue(()))),
)
