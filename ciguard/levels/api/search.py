"""Search for a valid call of an API that has rejected every call, so its constraints are wrong.

Some arguments are drawn as usual, the others from values of every kind. In other calls all sizes
are 1: channels, windows and broadcast dimensions then agree, however they depend on each other. One
call that passes is enough, since later calls stay near it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    Constant,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values import (
    AnyOf,
    Bool,
    Constraint,
    Float,
    Int,
    Ints,
    List,
    OneOf,
    Sampler,
    SamplingScope,
    Tensor,
    compile_sampler,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ciguard.levels.api.slots import ParameterSlot

_ANY_DTYPE = ("float32", "float32", "float64", "int64", "int32", "bool", "complex64", "uint8",
              "string")  # fmt: skip
_ANY_VALUE: Constraint = AnyOf((
    (3.0, Tensor(dtypes=_ANY_DTYPE, ndim=(0, 5))),
    (1.0, Tensor(dtypes=("float32",), ndim=(1, 2))),
    (1.0, Tensor(dtypes=("int64", "int32"), ndim=(0, 2), low=0, high=2)),
    (1.5, Int(min=0, max=4)),
    (1.0, Float(min=0.0, max=1.0)),
    (1.0, Bool()),
    (1.5, Ints(length=(1, 4), min=1, max=4)),
    (1.0, List(item=Tensor(dtypes=("float32", "int64")), length=(1, 3), uniform=True)),
    (0.7, OneOf((LiteralValue(None),))),
    (0.5, OneOf(tuple(map(LiteralValue, ("mean", "sum", "none", "SAME", "VALID", "float32"))))),
    (0.3, OneOf(tuple(map(DtypeValue, ("float32", "int64", "int32"))))),
))  # fmt: skip
_REPLACED_SHARES = (0.15, 0.4, 0.8)
"""Shares of arguments drawn from values of every kind. Each call uses one of the shares."""
_REUSE_PROBABILITY = 0.3
"""Probability that an argument from values of every kind repeats the previous such argument,
since operators often need equal shapes and dtypes."""
_PASSED_SHARES = (0.1, 0.5, 0.9)
"""Shares of optional arguments that are passed. Each call uses one of the shares."""
_SIZE_ONE_PROBABILITY = 0.25
"""Probability that all sizes of a call are 1."""
_MAX_RANK = 5


@cache
def _any_value_sampler() -> Sampler:
    return compile_sampler(_ANY_VALUE)


def search(
    rng: random.Random, slots: Sequence[ParameterSlot]
) -> tuple[dict[str, Value], tuple[ParameterSlot, ...]]:
    """Return the arguments of a call, and the slots that were drawn from values of every kind."""
    if rng.random() < _SIZE_ONE_PROBABILITY:
        return _with_sizes_of_one(rng, slots), ()
    scope = SamplingScope()
    passed_share = _PASSED_SHARES[int(rng.random() * len(_PASSED_SHARES))]
    replaced_share = _REPLACED_SHARES[int(rng.random() * len(_REPLACED_SHARES))]
    unconstrained: list[ParameterSlot] = []
    previous: Value | None = None
    for slot in slots:
        if slot.share and rng.random() >= passed_share:
            continue
        if rng.random() >= replaced_share:
            value = slot.sample(rng, scope)
        elif previous is not None and rng.random() < _REUSE_PROBABILITY:
            value = previous
        else:
            value = _any_value_sampler()(rng, scope)
            previous = value
            unconstrained.append(slot)
        scope.values[slot.name] = value
    return scope.values, tuple(unconstrained)


def _with_sizes_of_one(rng: random.Random, slots: Sequence[ParameterSlot]) -> dict[str, Value]:
    """Return arguments whose tensors have one rank and dtype, and only dimensions of size 1.

    Integers are ones: a tensor or list of them has one item for each dimension of the others.
    """
    scope = SamplingScope()
    for slot in slots:
        if not slot.share or rng.random() < _PASSED_SHARES[0]:
            scope.values[slot.name] = slot.sample(rng, scope)
    rank = rng.randint(0, _MAX_RANK)
    values = scope.values.values()
    tensors = [value for value in values if isinstance(value, TensorValue)]
    dtypes = [tensor.dtype for tensor in tensors if tensor.dtype not in element_types.INTEGERS]
    return {
        name: _of_size_one(value, rank, next(iter(dtypes), ""))
        for name, value in scope.values.items()
    }


def _of_size_one(value: Value, rank: int, dtype: str) -> Value:
    one = LiteralValue(1)
    match value:
        case TensorValue(dtype=own) if own in element_types.INTEGERS and dtype:
            return TensorValue(own, (rank,), Constant(1))
        case TensorValue(dtype=own, fill=fill):
            return TensorValue(dtype or own, (1,) * rank, fill)
        case ListValue((LiteralValue(int()), *_)):
            return ListValue((one,) * rank)
        case TupleValue((LiteralValue(int()), *_)):
            return TupleValue((one,) * rank)
        case LiteralValue(int(number)) if not isinstance(number, bool):
            return one
        case _:
            return value
