"""Whether compiled integers differ because a graph divides by the integer 0, which is undefined.

XLA defines the quotient as -1, and its eager kernels, numpy and C do otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain import dtypes
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.values import Constant, Explicit, TensorValue, Uniform
from ciguard.levels.graph.rounding import arrays_of
from ciguard.oracles.relations import tensors_of

if TYPE_CHECKING:
    from ciguard.domain.graphs import GraphCase
    from ciguard.domain.outcomes import Outcome

_QUOTIENT = -1
"""Result of XLA for an integer divided by 0."""


def is_division_by_zero(case: GraphCase, reference: Outcome, compiled: Outcome) -> bool:
    """Return whether a division by 0 explains a difference.

    All integers that differ are the quotient by 0 on the compiled side, and an integer input of
    the graph may be 0.
    """
    pairs = list(zip(arrays_of(reference), arrays_of(compiled), strict=False))
    changed = [
        (mine.dtype.kind, other[mine != other])
        for (_, mine), (_, other) in pairs
        if mine.shape == other.shape and (mine != other).any()
    ]
    are_quotients = all(kind == "i" and (rest == _QUOTIENT).all() for kind, rest in changed)
    have_same_shapes = all(mine.shape == other.shape for (_, mine), (_, other) in pairs)
    return bool(changed) and are_quotients and have_same_shapes and _may_have_zero(case)


def _may_have_zero(case: GraphCase) -> bool:
    tensors = [
        tensor
        for step in case.steps
        for tensor in (tensors_of(step) if isinstance(step, ApiCall) else (step,))
    ]
    return any(_has_zero(tensor) for tensor in tensors if tensor.dtype in dtypes.INTEGERS)


def _has_zero(tensor: TensorValue) -> bool:
    match tensor.fill:
        case Constant(value):
            return value == 0
        case Explicit(data):
            return bool((np.asarray(data) == 0).any())
        case Uniform(_, low, high):
            return low < 1 and high > -1
        case _:
            return False
