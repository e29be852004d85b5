"""Integers near the ranks and sizes of a call's tensors: axes, indices and sizes one off."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ciguard.values.scope import shape_of

if TYPE_CHECKING:
    import random

    from ciguard.values.scope import SamplingScope

_WITHOUT_TENSORS = (0, 1, 2, -1)
_NEGATIVE_PROBABILITY = 0.3


def nearby_integer(rng: random.Random, scope: SamplingScope) -> int:
    """Return an integer at or next to a rank, a size or a number of elements, or its negative."""
    shapes = [shape for shape in map(shape_of, scope.values.values()) if shape]
    if not shapes:
        return _WITHOUT_TENSORS[int(rng.random() * len(_WITHOUT_TENSORS))]
    shape = shapes[int(rng.random() * len(shapes))]
    bases = (len(shape), *shape, prod(shape))
    number = bases[int(rng.random() * len(bases))] + int(rng.random() * 3) - 1
    return -number if rng.random() < _NEGATIVE_PROBABILITY else number
