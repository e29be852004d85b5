"""Enlarging of inputs, as calls of a few microseconds mostly measure the overhead of a call.

All shapes grow together, so that they still match: first in every dimension, then only in the first
one, as a layer or an argument may fix the others. A search measures one call after the other, as
only running a call shows whether it accepts the inputs.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.values import Explicit
from ciguard.oracles.relations import has_keyword, tensors_of, with_tensors

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.values import TensorValue

MIN_MEASURED_S = 50e-6
"""Time from which on a call is long enough to be measured, in seconds."""
MAX_MEASURED_S = 0.02
"""Maximum time of a measured call, in seconds, as each is repeated a hundred times."""
_ELEMENTS = (2**9, 2**12, 2**16)
"""Numbers of elements of the largest tensor, step by step; the cost may grow cubically."""

Climb: TypeAlias = Generator["ApiCall", float | None, "tuple[ApiCall, float] | None"]
"""Generator that yields calls, receives the seconds of each, and returns the best call.

It receives None for a call that failed, and returns None if all calls failed."""


def climb(case: ApiCall) -> Climb:
    """Search for inputs with which a call takes long enough to be measured, but not too long."""
    cost_s = yield case
    if cost_s is None:
        return None
    best = case, cost_s
    for only_first in (False, True):
        for elements in _ELEMENTS:
            larger = enlarged(case, elements, only_first=only_first)
            if best[1] >= MIN_MEASURED_S or larger is None:
                break
            cost_s = yield larger
            if cost_s is None or cost_s > MAX_MEASURED_S:
                break
            best = larger, cost_s
        if best[0] is not case:
            break
    return best


def can_grow(case: ApiCall) -> bool:
    """Return whether the call has a tensor that can grow, and no `out` argument."""
    return not has_keyword(case, "out") and enlarged(case, _ELEMENTS[0]) is not None


def enlarged(case: ApiCall, elements: int, *, only_first: bool = False) -> ApiCall | None:
    """Return the call with larger tensors, the largest of which has about `elements` elements.

    Args:
        case: call to enlarge.
        elements: target size; None is returned if the largest tensor has half of it already.
        only_first: whether only the first dimension grows, in tensors of the largest one's rank.

    Returns:
        None if no tensor can grow: it is a scalar or empty, or its elements are explicit.
    """
    tensors = [tensor for tensor in tensors_of(case) if tensor.shape]
    largest = max(tensors, key=lambda tensor: prod(tensor.shape), default=None)
    if largest is None or not 0 < 2 * prod(largest.shape) <= elements:
        return None
    if any(isinstance(tensor.fill, Explicit) for tensor in tensors):
        return None
    # A dimension of one is broadcast, unless there is no other.
    fixed = 1 if prod(largest.shape) > 1 else 0
    growing = largest.shape[:1] if only_first else largest.shape
    count = sum(size > fixed for size in growing)
    if not count:
        return None
    factor = max(2, round((elements / prod(largest.shape)) ** (1 / count)))

    def grown(tensor: TensorValue) -> TensorValue:
        axes = len(tensor.shape)
        if only_first:
            axes = 1 if axes == len(largest.shape) else 0
        head = (size * factor if size > fixed else size for size in tensor.shape[:axes])
        return replace(tensor, shape=(*head, *tensor.shape[axes:]))

    return with_tensors(case, grown)
