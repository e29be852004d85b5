"""Larger inputs: of a call of a few microseconds, most is entering it, and that is not compared.

Shapes grow together, so that what had to fit still fits: first every dimension, then the first
alone, where a layer or an argument fixes the others. Whether the call accepts that, only running
it tells: a climb asks for the time of one call after the other.
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

ENOUGH_S = 50e-6
"""A call that takes so long is slow by what it computes: none larger is sought."""
HANDY_S = 0.02
"""Nor is one taken that takes longer: each is repeated a hundred times."""
_ELEMENTS = (2**9, 2**12, 2**16)
"""Of the largest tensor, step by step: the next step may cost the third power of this one."""

Climb: TypeAlias = Generator["ApiCall", float | None, "tuple[ApiCall, float] | None"]
"""Yields calls, takes the seconds of each, None for what did not pass; returns the best, if any."""


def climb(case: ApiCall) -> Climb:
    """Look for inputs with which a call takes long enough to be measured, and not too long."""
    cost_s = yield case
    if cost_s is None:
        return None
    best = case, cost_s
    for only_first in (False, True):
        for elements in _ELEMENTS:
            larger = enlarged(case, elements, only_first=only_first)
            if best[1] >= ENOUGH_S or larger is None:
                break
            cost_s = yield larger
            if cost_s is None or cost_s > HANDY_S:
                break
            best = larger, cost_s
        if best[0] is not case:
            break
    return best


def can_grow(case: ApiCall) -> bool:
    """Return whether the call has a tensor that can be larger, and none to which it is written."""
    return not has_keyword(case, "out") and enlarged(case, _ELEMENTS[0]) is not None


def enlarged(case: ApiCall, elements: int, *, only_first: bool = False) -> ApiCall | None:
    """Return the call with tensors so much larger that the largest has about so many elements.

    Args:
        case: a call.
        elements: at least; None is returned if it has half of them already.
        only_first: let the first dimension grow alone, of the tensors that have as many dimensions.

    Returns:
        None where no tensor can grow: it has no dimensions or no elements, or they are written out.
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
    times = max(2, round((elements / prod(largest.shape)) ** (1 / count)))

    def grown(tensor: TensorValue) -> TensorValue:
        places = len(tensor.shape)
        if only_first:
            places = 1 if places == len(largest.shape) else 0
        head = (size * times if size > fixed else size for size in tensor.shape[:places])
        return replace(tensor, shape=(*head, *tensor.shape[places:]))

    return with_tensors(case, grown)
