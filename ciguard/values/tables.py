"""Precomputed tables for samplers: one random number selects a complete shape or fill.

Drawing each dimension and seed separately would be slower than the call under test. The tables are
computed from fixed seeds, so that a case depends only on its own seed.
"""

from __future__ import annotations

import random
from functools import cache, lru_cache
from math import prod
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import Constant, Uniform

if TYPE_CHECKING:
    from ciguard.domain.values import Fill

MAX_ELEMENTS = 512
"""Maximum number of elements of a shape with at most 8 dimensions."""
SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 6)
"""Sizes of dimensions; repeated sizes are drawn more often."""
_RANK_WEIGHTS = (1, 4, 5, 3, 4, 2, 1, 1)
"""Relative frequency of each rank from 0; higher ranks have the last frequency."""
_TABLE_SIZE = 128
_DTYPE_WEIGHTS = {"float32": 8, "int32": 3, "float64": 2, "int64": 2}
_FLOAT_RANGES = ((-1.0, 1.0), (0.0, 1.0), (-3.0, 3.0), (0.5, 4.0))
_INTEGER_RANGES = ((0.0, 1.0), (0.0, 3.0), (1.0, 4.0), (-2.0, 5.0))


@cache
def shapes(minimum: int, maximum: int) -> tuple[tuple[int, ...], ...]:
    """Return a table of small shapes with ranks in [minimum, maximum], mostly of common ranks."""
    rng = random.Random(f"shapes {minimum} {maximum}")  # noqa: S311 - a table, not a secret
    ranks = list(range(minimum, maximum + 1))
    weights = [_RANK_WEIGHTS[min(rank, len(_RANK_WEIGHTS) - 1)] for rank in ranks]
    table: list[tuple[int, ...]] = []
    while len(table) < _TABLE_SIZE:
        rank = rng.choices(ranks, weights)[0]
        sizes = SIZES if rank < 5 else (1, 1, 2, 2, 3)  # noqa: PLR2004 - 6 ** 5 is too many
        shape = tuple(rng.choice(sizes) for _ in range(rank))
        if prod(shape) <= MAX_ELEMENTS or rank > 8:  # noqa: PLR2004 - high ranks have tiny sizes
            table.append(shape)
    return tuple(table)


@cache
def weighted_dtypes(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of dtypes, common ones repeated so that they are drawn more often."""
    return tuple(name for name in names for _ in range(_DTYPE_WEIGHTS.get(name, 1)))


@lru_cache(maxsize=None, typed=True)  # 0 and 0.0 are equal, but give other tables
def fills(dtype: str, low: float | None, high: float | None) -> tuple[Fill, ...]:
    """Return a table of fills for a dtype, with elements in [low, high] if given."""
    rng = random.Random(f"fills {dtype} {low} {high}")  # noqa: S311 - a table, not a secret
    table: list[Fill] = []
    for _ in range(_TABLE_SIZE):
        minimum, maximum = _random_range(dtype, low, high, rng)
        table.append(
            _limited_to_dtype(
                _random_fill(minimum, maximum, rng, is_integral=_is_integral(dtype)), dtype
            )
        )
    return tuple(table)


def _limited_to_dtype(fill: Fill, dtype: str) -> Fill:
    """Return a fill. Its constant, if it has one, is limited to the dtype's range.

    The worker limits the elements of other fills when it computes them.
    """
    if not isinstance(fill, Constant) or dtype not in element_types.INTEGERS:
        return fill
    minimum, maximum = element_types.integer_range(dtype)
    return Constant(min(max(int(fill.value), minimum), maximum))


def _is_integral(dtype: str) -> bool:
    return dtype not in element_types.FLOATING + element_types.COMPLEX


def _random_range(
    dtype: str, low: float | None, high: float | None, rng: random.Random
) -> tuple[float, float]:
    """Return the given range; missing ends are filled in, at random if both are missing."""
    if low is None and high is None:
        return rng.choice(_INTEGER_RANGES if _is_integral(dtype) else _FLOAT_RANGES)
    span = 4.0
    minimum = (high or 0.0) - span if low is None else low
    maximum = minimum + span if high is None else high
    return minimum, maximum


def _random_fill(minimum: float, maximum: float, rng: random.Random, *, is_integral: bool) -> Fill:
    """Return a uniform fill of a range, or sometimes a constant fill with one of its ends."""
    if rng.random() < 0.1:  # noqa: PLR2004 - one fill in ten is an end of the range
        end = rng.choice((minimum, maximum))
        return Constant(int(end) if is_integral else end)
    return Uniform(rng.randrange(1 << 16), minimum, maximum)
