"""Cases that are similar to a case: calls of the same API with a few changed arguments.

They serve to attribute faults that depend on the contents of memory. On one side of a change, the
case itself may not show such a fault although similar calls do. The constraints of the API are not
needed.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.case import case_id
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.triage.reductions import reductions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.case import Case
    from ciguard.domain.values import Fill, Scalar, Value
    from ciguard.triage.simplifying import AnyArray

_T = TypeVar("_T")

_CHANGE_PROBABILITY = 0.3
"""Probability that an argument, or an item of an argument, is changed."""
_MAX_DRAWS_PER_CASE = 20
"""Maximum number of draws for each requested case. Calls with few arguments have few neighbours."""
_MAX_SIZE = 64
"""Maximum size of a dimension after it is doubled."""
_DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "bool", "complex64")
_NUMBERS = (0, 1, -1, 2, 3, 7, 100, -100, 2**31 - 1, -(2**31), 2**40)
_SEED_RANGE = 1 << 31


def neighbours(case: Case, max_count: int, *, seed: int) -> list[Case]:
    """Return up to `max_count` different cases that are similar to `case`.

    For cases other than API calls, these are simpler variants and the case with other seeds. The
    same `seed` leads to the same cases.
    """
    distinct = {
        case_id(other): other
        for other in islice(_similar_cases(case, seed), max_count * _MAX_DRAWS_PER_CASE)
    }
    distinct.pop(case_id(case), None)
    return list(islice(distinct.values(), max_count))


def _similar_cases(case: Case, seed: int) -> Iterator[Case]:
    """Yield similar cases, possibly the same one repeatedly; without end for API calls."""
    if not case.is_run_by_worker:
        return  # stub responses of services are not changed
    rng = random.Random(f"{seed} {case_id(case)}")  # noqa: S311 - must be repeatable
    simpler = reductions(case)
    # Half of the variants leave room for calls that are not simpler.
    yield from simpler[::2]
    if isinstance(case, ApiCall):
        while True:
            yield _changed_call(rng, case)
    for _ in range(len(simpler) + 1):
        yield replace(case, seed=rng.randrange(_SEED_RANGE))


def _changed_call(rng: random.Random, case: ApiCall) -> ApiCall:
    """Return the call with random changes of its arguments, and with another seed."""
    return replace(
        case,
        arguments=_changed_tuple(rng, case.arguments, _changed_value),
        keywords=_changed_tuple(rng, case.keywords, _changed_pair),
        inputs=_changed_tuple(rng, case.inputs, _changed_value),
        seed=rng.randrange(_SEED_RANGE),
    )


def _changed_tuple(
    rng: random.Random, items: tuple[_T, ...], change: Callable[[random.Random, _T], _T]
) -> tuple[_T, ...]:
    """Return a tuple in which some items are changed at random."""
    return tuple(
        change(rng, item) if rng.random() < _CHANGE_PROBABILITY else item for item in items
    )


def _changed_pair(rng: random.Random, pair: tuple[str, Value]) -> tuple[str, Value]:
    return pair[0], _changed_value(rng, pair[1])


def _changed_value(rng: random.Random, value: Value) -> Value:
    """Return the value with a random change of its contents."""
    match value:
        case TensorValue() | ArrayValue():
            return _changed_array(rng, value)
        case LiteralValue(scalar):
            return LiteralValue(_changed_scalar(rng, scalar))
        case ListValue() | TupleValue():
            return replace(value, items=_changed_items(rng, value.items))
        case DictValue():
            return replace(value, items=_changed_tuple(rng, value.items, _changed_pair))
        case CallValue():
            return replace(value, arguments=_changed_tuple(rng, value.arguments, _changed_value))
        case _:
            return value


def _changed_scalar(rng: random.Random, scalar: Scalar) -> Scalar:
    """Return another scalar of the same type; None stays None."""
    match scalar:
        case bool():
            return not scalar
        case int():
            return rng.choice(_NUMBERS)
        case float():
            return rng.choice((*map(float, _NUMBERS), 0.5, math.nan, math.inf))
        case str() | bytes():
            return rng.choice((scalar[:0], scalar * 2, scalar[1:]))
        case _:
            return scalar


def _changed_items(rng: random.Random, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return the items with one more or fewer, or with random changes."""
    if items and rng.random() < _CHANGE_PROBABILITY:
        return items[:-1] if rng.random() < 0.5 else (*items, items[-1])  # noqa: PLR2004 - a fair coin
    return _changed_tuple(rng, items, _changed_value)


def _changed_array(rng: random.Random, value: AnyArray) -> AnyArray:
    """Return the array with another shape, dtype or content."""
    choice = rng.randrange(4)
    if choice == 0 and value.shape:
        axis = rng.randrange(len(value.shape))
        size = rng.choice((0, 1, 2, value.shape[axis] + 1, min(2 * value.shape[axis], _MAX_SIZE)))
        shape = (*value.shape[:axis], size, *value.shape[axis + 1 :])
        return replace(value, shape=shape, fill=_random_fill(rng))
    if choice == 1 and value.shape:
        return replace(value, shape=value.shape[1:], fill=_random_fill(rng))
    if choice == 2 and value.dtype in _DTYPES:  # noqa: PLR2004 - the third of four changes
        return replace(value, dtype=rng.choice(_DTYPES), fill=_random_fill(rng))
    return replace(value, fill=_random_fill(rng))


def _random_fill(rng: random.Random) -> Fill:
    seed = rng.randrange(_SEED_RANGE)
    choices: tuple[Fill, ...] = (
        Constant(rng.choice((0, 1, -1, 100))),
        Uniform(seed, -1.0, 1.0),
        Uniform(seed, 0.0, 100.0),
        Special(seed),
    )
    return rng.choice(choices)
