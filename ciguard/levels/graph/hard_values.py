"""Variants of calls with values and sizes at which compilers err: one API alone, compiled.

Ordinary elements hide how a compiler treats NaN and infinities, how it rounds halves, and how
precise it is near 0. They also hide where a function saturates or overflows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.values import Explicit, TensorValue, Uniform
from ciguard.levels.graph.samples import resized
from ciguard.oracles.relations import tensors_of, with_tensors

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.graphs import Step
    from ciguard.domain.values import Fill

_HARD_SHARE = 0.5
"""Share of the variants with finite numbers, of which there are four kinds."""
_SPECIAL_NUMBERS = (math.nan, math.inf, -math.inf, 0.0, -0.0)
_SPECIAL_SHARE = 0.25
_EXACT_NUMBERS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, 2.5, -2.5)
"""Numbers at which functions change: zeros, halves and whole numbers."""
_SMALL = 1e-4
"""Bound of elements whose square is lost beside 1 in 32 bits."""
_LARGE = 100.0
"""Bound of elements at which exponentials in 32 bits overflow, and functions saturate."""
_HUGE = 1e30
"""Bound of elements whose square overflows in 32 bits."""
_BOUNDS = (0.0, _SMALL, _LARGE, _HUGE)
"""Bounds of elements; 0 stands for `_EXACT_NUMBERS`."""
_MAX_LISTED = 512
"""Maximum number of elements of a call that are listed one by one."""
_SEEDS = 1 << 16


def with_hard_values(call: ApiCall, rng: random.Random, *, keeps_special: bool) -> ApiCall | None:
    """Return a variant of a call with hard values or sizes; None if the drawn kind has none.

    Args:
        call: the call.
        rng: source of random numbers.
        keeps_special: True if results may be NaN or infinite.
    """
    if not keeps_special or rng.random() < _HARD_SHARE:
        return with_hard_numbers(call, rng)
    return rng.choice((with_special_numbers, with_extreme_size))(call, rng)


def has_special_numbers(steps: Iterable[Step]) -> bool:
    """Return whether a tensor of some steps has NaN or infinities among its elements."""
    tensors = [
        tensor
        for step in steps
        for tensor in ([step] if isinstance(step, TensorValue) else tensors_of(step))
    ]
    listed = [tensor.fill.data for tensor in tensors if isinstance(tensor.fill, Explicit)]
    return not all(map(math.isfinite, chain.from_iterable(listed)))


def with_special_numbers(call: ApiCall, rng: random.Random) -> ApiCall | None:
    """Return a call with NaN, infinities and zeros among the elements of its floating tensors.

    None if it has no such tensor, or a complex one: what a complex NaN becomes is unspecified.
    """
    if not _is_listable(call):
        return None

    def mixed(tensor: TensorValue) -> TensorValue:
        count = math.prod(tensor.shape)
        if tensor.dtype not in dtypes.FLOATING or not count:
            return tensor
        return replace(tensor, fill=Explicit(tuple(_mixed_numbers(count, rng))))

    return with_tensors(call, mixed)


def _mixed_numbers(count: int, rng: random.Random) -> Iterator[float]:
    for _ in range(count):
        is_special = rng.random() < _SPECIAL_SHARE
        yield rng.choice(_SPECIAL_NUMBERS) if is_special else round(rng.uniform(-3.0, 3.0), 2)


def with_extreme_size(call: ApiCall, rng: random.Random) -> ApiCall | None:
    """Return a call whose tensors have no element, or one, along all axes of one size.

    None if no tensor has an axis with more elements.
    """
    sizes = sorted({size for tensor in tensors_of(call) for size in tensor.shape if size > 1})
    return resized(call, {rng.choice(sizes): rng.choice((0, 1))}) if sizes else None


def with_hard_numbers(call: ApiCall, rng: random.Random) -> ApiCall | None:
    """Return a call with finite numbers that are hard for a compiler in its floating tensors.

    Each tensor gets small, large or huge numbers, or zeros, halves and whole numbers; negative ones
    only if it has some. None if the call has no floating tensor, or a complex one.
    """
    if not _is_listable(call):
        return None

    def changed(tensor: TensorValue) -> TensorValue:
        if tensor.dtype not in dtypes.FLOATING or not math.prod(tensor.shape):
            return tensor
        return replace(tensor, fill=_hard_fill(tensor, rng))

    return with_tensors(call, changed)


def _hard_fill(tensor: TensorValue, rng: random.Random) -> Fill:
    has_negative = _has_negative(tensor)
    bound = rng.choice(_BOUNDS[:-1] if tensor.dtype == "float16" else _BOUNDS)
    if bound:
        return Uniform(rng.randrange(_SEEDS), -bound if has_negative else 0.0, bound)
    numbers = [number for number in _EXACT_NUMBERS if has_negative or number >= 0]
    return Explicit(tuple(rng.choice(numbers) for _ in range(math.prod(tensor.shape))))


def _has_negative(tensor: TensorValue) -> bool:
    match tensor.fill:
        case Uniform(_, low, _):
            return low < 0
        case Explicit(data):
            return min(data, default=0) < 0
        case _:
            return False


def _is_listable(call: ApiCall) -> bool:
    """Return whether a call has floating tensors with few elements, and no complex ones."""
    tensors = tensors_of(call)
    counts = [math.prod(tensor.shape) for tensor in tensors if tensor.dtype in dtypes.FLOATING]
    has_complex = any(tensor.dtype in dtypes.COMPLEX for tensor in tensors)
    return not has_complex and 0 < sum(counts) <= _MAX_LISTED
