"""Search for a valid call of an API that has rejected every call, so its constraints are wrong.

Some arguments are drawn as usual, the others from values of every kind. One call that passes is
enough, since later calls stay near it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain.values import DtypeValue, LiteralValue, Value
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


@cache
def _any_value_sampler() -> Sampler:
    return compile_sampler(_ANY_VALUE)


def search(
    rng: random.Random, slots: Sequence[ParameterSlot]
) -> tuple[dict[str, Value], tuple[ParameterSlot, ...]]:
    """Return the arguments of a call, and the slots that were drawn from values of every kind."""
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
