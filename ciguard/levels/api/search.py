"""Search: calls of an API of which nothing has passed yet, so that what is known must be wrong.

Some arguments are drawn as usual, the others from every kind of value there is. One call that
passes is enough: later calls stay near it.
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
_ANYTHING: Constraint = AnyOf((
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
_REPLACED = (0.15, 0.4, 0.8)
"""Shares of the arguments that are drawn from anything, one for each kind of search."""
_ALIKE = 0.3
"""How often a tensor takes the shape and dtype of the one before: operators want that often."""
_GIVEN = (0.1, 0.5, 0.9)


@cache
def _anything() -> Sampler:
    return compile_sampler(_ANYTHING)


def search(
    rng: random.Random, slots: Sequence[ParameterSlot]
) -> tuple[dict[str, Value], tuple[ParameterSlot, ...]]:
    """Return the arguments of a call, and the slots that were drawn from anything."""
    scope = SamplingScope()
    given = _GIVEN[int(rng.random() * len(_GIVEN))]
    replaced = _REPLACED[int(rng.random() * len(_REPLACED))]
    tried: list[ParameterSlot] = []
    last: Value | None = None
    for slot in slots:
        if slot.share and rng.random() >= given:
            continue
        if rng.random() >= replaced:
            value = slot.sample(rng, scope)
        elif last is not None and rng.random() < _ALIKE:
            value = last
        else:
            value = _anything()(rng, scope)
            last = value
            tried.append(slot)
        scope.values[slot.name] = value
    return scope.values, tuple(tried)
