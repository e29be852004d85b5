"""Plain random calls: for each parameter a random value of a random kind, and nothing known of it.

The yardstick that guided generation is held against. Of an API it uses the names of the parameters
and which are required, so that a call gets past Python's own check of its arguments.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import (
    Constant,
    DtypeValue,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.levels import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Fill

DTYPES = (*element_types.COMMON, *element_types.COMMON, *element_types.NUMERIC, "string")
INTS = (-(2**63), -(2**31), -100, -2, 10, 100, 2**16, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1)
FLOATS = (0.0, -1.0, 0.5, 1.0, 1e-45, 3.4e38, 1.7e308, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", "a", "SAME", "NHWC", "\0", "a" * 300, "sum", "mean")
OPTIONAL = 0.2


def random_int(rng: random.Random) -> int:
    """Return a small int, or one of a few that are not."""
    return rng.choice(INTS) if rng.random() < 0.4 else rng.randint(-2, 5)


def random_tensor(rng: random.Random) -> TensorValue:
    """Return a tensor of random dtype, rank, sizes and elements."""
    shape = tuple(rng.randint(0, 5) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4, 5))))
    dtype = rng.choice(DTYPES)
    fills: tuple[Fill, ...] = (
        Uniform(rng.randrange(1 << 16), -1.0, 1.0),
        Uniform(rng.randrange(1 << 16), 0.0, 5.0),
        Special(rng.randrange(1 << 16)),
        Constant(random_int(rng)),
    )
    return TensorValue(dtype, shape, rng.choice(fills))


def random_value(rng: random.Random) -> Value:
    """Return a value of any kind; half are tensors, what most arguments of these libraries are."""
    pick = rng.random()
    if pick < 0.5:
        return random_tensor(rng)
    if pick < 0.6:
        of_one_kind = rng.choice((random_tensor, random_scalar, random_number))
        return ListValue(tuple(of_one_kind(rng) for _ in range(rng.randint(0, 5))))
    return random_scalar(rng)


def random_number(rng: random.Random) -> LiteralValue:
    """Return an int."""
    return LiteralValue(random_int(rng))


def random_scalar(rng: random.Random) -> Value:
    """Return a Python scalar or a dtype."""
    return rng.choice(
        (
            LiteralValue(random_int(rng)),
            LiteralValue(random_int(rng)),
            LiteralValue(rng.choice(FLOATS)),
            LiteralValue(rng.choice(TEXTS)),
            LiteralValue(value=rng.random() < 0.5),
            LiteralValue(None),
            DtypeValue(rng.choice(element_types.COMMON)),
        )
    )


class UnguidedLevel:
    """A level like `ApiLevel`: rounds over all APIs, a pure function of seed and index."""

    def __init__(self, apis: Sequence[ApiRecord], seed: int, *, cases_per_batch: int = 16) -> None:
        self._records = tuple(apis)
        self._seed = seed
        self._cases_per_batch = cases_per_batch

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        round_number, place = divmod(index, len(self._records))
        order = list(range(len(self._records)))
        random.Random(f"{self._seed} {round_number}").shuffle(order)
        record = self._records[order[place]]
        rng = random.Random(f"{self._seed} {index}")
        cases = tuple(random_call(record, rng) for _ in range(self._cases_per_batch))
        return Batch(api=record.api, kind=record.kind, cases=cases)


def random_call(record: ApiRecord, rng: random.Random) -> ApiCall:
    """Return a call with random arguments, required ones by position where that is possible."""
    arguments: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    for parameter in record.parameters:
        if not parameter.required and rng.random() >= OPTIONAL:
            continue
        if _goes_by_position(parameter) and not keywords:
            arguments.append(random_value(rng))
        elif parameter.kind is not ParameterKind.VAR_KEYWORD:
            keywords.append((parameter.name, random_value(rng)))
    inputs = tuple(random_value(rng) for _ in record.inputs)
    return ApiCall(
        api=record.api,
        kind=record.kind,
        arguments=tuple(arguments),
        keywords=tuple(keywords),
        inputs=inputs,
        seed=rng.randrange(1 << 31),
    )


def _goes_by_position(parameter: ParameterRecord) -> bool:
    return parameter.required and parameter.kind in {
        ParameterKind.POSITIONAL_ONLY,
        ParameterKind.POSITIONAL_OR_KEYWORD,
    }
