"""Mutations to values that violate a constraint in exactly one aspect."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, singledispatch
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    Constant,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values.check import conforms
from ciguard.values.constraints import (
    AnyOf,
    Array,
    Bool,
    Bytes,
    Constraint,
    Dict,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Mapping,
    OneOf,
    Optional,
    String,
    Tensor,
    Tuple,
)
from ciguard.values.mutation import Mutation, Mutator, any_constant, constant, reshape
from ciguard.values.sample import compile_sampler

if TYPE_CHECKING:
    import random

    from ciguard.values.scope import SamplingScope

STRUCTURE_EXAMPLES: tuple[Value, ...] = (
    LiteralValue("not a number"),
    DictValue((("key", LiteralValue(1)),)),
    LiteralValue(None),
    LiteralValue(2.5),
    LiteralValue(complex(1, 1)),
    LiteralValue(b"bytes"),
    ListValue((LiteralValue("a"), ListValue((LiteralValue(1),)))),
    TensorValue("float32", (2, 3), Constant(1)),
)
"""One value of each structure, with which a value of another structure is replaced."""

_RARE_DTYPES = ("complex64", "string", "uint8", "float16", "int16")
_UNKNOWN_MEMBERS = (LiteralValue("unknown"), LiteralValue(""), LiteralValue(3))
_MAX_ATTEMPTS = 4


def violations(constraint: Constraint) -> tuple[Mutation, ...]:
    """Return mutations each of which violates `constraint` in one aspect.

    The result is empty if no mutation violates it, as for an AnyOf that accepts all structures.
    """
    mutations = _violations(constraint)
    return tuple(
        replace(
            mutation,
            mutate=partial(_mutate_until_violating, constraint=constraint, mutation=mutation),
        )
        for mutation in (*mutations, *_structure_mutations(constraint))
    )


def _mutate_until_violating(
    rng: random.Random,
    scope: SamplingScope,
    current: Value,
    *,
    constraint: Constraint,
    mutation: Mutation,
) -> Value:
    """Return a mutated value that violates the constraint.

    If no attempt of the mutation succeeds, return a value of another structure.
    """
    value = current
    for _ in range(_MAX_ATTEMPTS):
        value = mutation.mutate(rng, scope, current)
        if not _is_accepted(value, constraint, scope):
            return value
    examples = (value for value in STRUCTURE_EXAMPLES if not _is_accepted(value, constraint, scope))
    return next(examples, value)


def _is_accepted(value: Value, constraint: Constraint, scope: SamplingScope) -> bool:
    """Return whether a value conforms, without adding symbols to the scope."""
    sizes = dict(scope.sizes)
    accepted = conforms(value, constraint, scope)
    scope.sizes = sizes  # a check must not decide the sizes of symbols
    return accepted


def _structure_mutations(constraint: Constraint) -> tuple[Mutation, ...]:
    examples = tuple(value for value in STRUCTURE_EXAMPLES if not conforms(value, constraint))
    return (Mutation("structure", any_constant(examples)),) if examples else ()


@singledispatch
def _violations(constraint: Constraint) -> tuple[Mutation, ...]:
    del constraint
    return ()


@_violations.register(Int)
def _int_violations(constraint: Int) -> tuple[Mutation, ...]:
    beyond = [constraint.min - 1, constraint.max + 1, constraint.max * 2 + 100]
    beyond += [constraint.min + 1] if constraint.step > 1 else []
    return (Mutation("range", any_constant(tuple(map(LiteralValue, beyond))), 3),)


@_violations.register(Float)
def _float_violations(constraint: Float) -> tuple[Mutation, ...]:
    beyond = [constraint.min - 1.0, constraint.max + 1.0, constraint.max * 2 + 100.0]
    beyond += [constraint.min] if constraint.exclude_min else []
    beyond += [constraint.max] if constraint.exclude_max else []
    beyond += [] if constraint.nan else [float("nan")]
    return (Mutation("range", any_constant(tuple(map(LiteralValue, beyond))), 3),)


@_violations.register(Bool)
def _bool_violations(constraint: Bool) -> tuple[Mutation, ...]:
    del constraint
    return (Mutation("range", constant(LiteralValue(2))),)


@_violations.register(OneOf)
def _one_of_violations(constraint: OneOf) -> tuple[Mutation, ...]:
    del constraint
    return (Mutation("member", any_constant(_UNKNOWN_MEMBERS), 3),)


@_violations.register(String)
@_violations.register(Bytes)
def _text_violations(constraint: String | Bytes) -> tuple[Mutation, ...]:
    long = "long " * (constraint.max_length + 1)
    value = LiteralValue(long if isinstance(constraint, String) else long.encode())
    return (Mutation("length", constant(value)),)


@_violations.register(Dtype)
def _dtype_violations(constraint: Dtype) -> tuple[Mutation, ...]:
    forbidden = _forbidden_dtypes(constraint.names)
    return (
        (Mutation("dtype", any_constant(tuple(map(DtypeValue, forbidden))), 3),)
        if forbidden
        else ()
    )


def _forbidden_dtypes(names: tuple[str, ...]) -> tuple[str, ...]:
    candidates = (*element_types.COMMON, *_RARE_DTYPES)
    return tuple(name for name in candidates if name not in names)


@_violations.register(Ints)
def _ints_violations(constraint: Ints) -> tuple[Mutation, ...]:
    outside = (constraint.min - 1, constraint.max + 1)
    return (
        Mutation("length", _lengthen, 2),
        Mutation("length", _shorten, 2),
        Mutation("range", partial(_replace_with_integer, choices=outside), 3),
        Mutation("structure", partial(_replace_item, item=LiteralValue("1"))),
    )


def _as_sequence(current: Value) -> ListValue | TupleValue:
    return current if isinstance(current, ListValue | TupleValue) else ListValue((current,))


def _lengthen(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the sequence with its last item repeated one to nine times."""
    del scope
    sequence = _as_sequence(current)
    last = sequence.items[-1:] or (LiteralValue(1),)
    return type(sequence)((*sequence.items, *last * (1 + int(rng.random() * 9))))


def _shorten(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the sequence without some of its last items."""
    del scope
    sequence = _as_sequence(current)
    return type(sequence)(sequence.items[: int(rng.random() * len(sequence.items))])


def _replace_item(
    rng: random.Random, scope: SamplingScope, current: Value, *, item: Value
) -> Value:
    """Return the sequence with a random item replaced by `item`."""
    del scope
    sequence = _as_sequence(current)
    items = list(sequence.items) or [item]
    items[int(rng.random() * len(items))] = item
    return type(sequence)(tuple(items))


def _replace_with_integer(
    rng: random.Random, scope: SamplingScope, current: Value, *, choices: tuple[int, ...]
) -> Value:
    number = choices[int(rng.random() * len(choices))]
    return _replace_item(rng, scope, current, item=LiteralValue(number))


@_violations.register(Tensor)
def _tensor_violations(constraint: Tensor) -> tuple[Mutation, ...]:
    mutations = [Mutation("rank", _change_rank, 3), Mutation("size", _change_size, 3)]
    forbidden = _forbidden_dtypes(constraint.dtypes if not constraint.dtype_of else ())
    if forbidden:
        mutations.append(Mutation("dtype", partial(_change_dtype, names=forbidden), 2))
    if not isinstance(constraint, Array):
        mutations.append(Mutation("structure", constant(ListValue((LiteralValue(1),)))))
    if constraint.low is not None or constraint.high is not None:
        mutations.append(Mutation("range", partial(_leave_range, constraint=constraint), 3))
    if constraint.axis_of or constraint.index_of:
        beyond = (Constant(100), Constant(-100), Constant(7))
        mutations.append(Mutation("range", partial(_change_fill, fills=beyond), 3))
    if constraint.increasing:
        mutations.append(
            Mutation("order", partial(_change_fill, fills=(Constant(-1), Constant(-7))))
        )
    return tuple(mutations)


def _change_rank(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    """Return the tensor with fewer or more dimensions."""
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    shape = current.shape
    pick = int(rng.random() * 4)
    if pick == 0 and shape:
        return reshape(current, shape[1:])
    if pick == 1:
        return reshape(current, ())
    if pick == 2:  # noqa: PLR2004 - the third of four ways to change the rank
        return reshape(current, (*shape, 2))
    return reshape(current, (1, 1, 1, *shape))


def _change_size(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue) or not current.shape:
        return current
    sizes = list(current.shape)
    axis = int(rng.random() * len(sizes))
    sizes[axis] = (sizes[axis] + 1, sizes[axis] * 2 + 1, max(sizes[axis] - 1, 0))[
        int(rng.random() * 3)
    ]
    return reshape(current, tuple(sizes))


def _change_dtype(
    rng: random.Random, scope: SamplingScope, current: Value, *, names: tuple[str, ...]
) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    return replace(current, dtype=names[int(rng.random() * len(names))])


def _change_fill(
    rng: random.Random, scope: SamplingScope, current: Value, *, fills: tuple[Constant, ...]
) -> Value:
    del scope
    if not isinstance(current, TensorValue | ArrayValue):
        return current
    return replace(current, fill=fills[int(rng.random() * len(fills))])


def _leave_range(
    rng: random.Random, scope: SamplingScope, current: Value, *, constraint: Tensor
) -> Value:
    """Return the tensor with a constant that is out of range."""
    fills: list[Constant] = []
    if constraint.low is not None:
        fills += [Constant(int(constraint.low) - 1), Constant(int(constraint.low) - 1000)]
    if constraint.high is not None:
        fills += [Constant(int(constraint.high) + 1), Constant(int(constraint.high) + 1000)]
    return _change_fill(rng, scope, current, fills=tuple(fills))


@_violations.register(List)
def _list_violations(constraint: List) -> tuple[Mutation, ...]:
    inner = tuple(
        replace(mutation, mutate=partial(_mutate_item, mutation=mutation))
        for mutation in _violations(constraint.item)
    )
    examples = tuple(v for v in STRUCTURE_EXAMPLES if not conforms(v, constraint.item))[:1]
    structure = tuple(Mutation("structure", partial(_replace_item, item=item)) for item in examples)
    return (Mutation("length", _lengthen), Mutation("length", _shorten), *inner, *structure)


def _mutate_item(
    rng: random.Random, scope: SamplingScope, current: Value, *, mutation: Mutation
) -> Value:
    sequence = _as_sequence(current)
    if not sequence.items:
        return current
    items = list(sequence.items)
    index = int(rng.random() * len(items))
    items[index] = mutation.mutate(rng, scope, items[index])
    return type(sequence)(tuple(items))


@_violations.register(Tuple)
def _tuple_violations(constraint: Tuple) -> tuple[Mutation, ...]:
    del constraint
    return (Mutation("length", _lengthen), Mutation("length", _shorten))


@_violations.register(Dict)
def _dict_violations(constraint: Dict) -> tuple[Mutation, ...]:
    del constraint
    return (Mutation("member", constant(DictValue((("unknown", LiteralValue(1)),)))),)


@_violations.register(Mapping)
def _mapping_violations(constraint: Mapping) -> tuple[Mutation, ...]:
    many = tuple((f"key {number}", LiteralValue(1)) for number in range(constraint.length[1] + 1))
    return (Mutation("length", constant(DictValue(many))),)


@_violations.register(Optional)
def _optional_violations(constraint: Optional) -> tuple[Mutation, ...]:
    return _option_violations(constraint.inner)


@_violations.register(AnyOf)
def _any_of_violations(constraint: AnyOf) -> tuple[Mutation, ...]:
    return tuple(
        mutation for _, option in constraint.options for mutation in _option_violations(option)
    )


def _option_violations(option: Constraint) -> tuple[Mutation, ...]:
    """Return the mutations that violate one of several options.

    If the conforming value satisfies another option, a value that satisfies this option is drawn
    before the mutation.
    """
    sample = compile_sampler(option)

    def mutator(mutate: Mutator) -> Mutator:
        def mutated(rng: random.Random, scope: SamplingScope, current: Value) -> Value:
            if not _is_accepted(current, option, scope):
                current = sample(rng, scope)
            return mutate(rng, scope, current)

        return mutated

    return tuple(
        replace(mutation, mutate=mutator(mutation.mutate)) for mutation in _violations(option)
    )
