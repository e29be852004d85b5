"""Whether compiled integers differ because eager execution divides by the integer 0.

Such a quotient is undefined: functions of TensorFlow that compute with numpy get 0, and XLA defines
it as -1. numpy reports the division, so a run that raises its reports shows whether there is one.
If the graph has no other zeros to divide by, the difference must be gone without them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain import dtypes
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.values import Constant, Explicit, TensorValue, Uniform
from ciguard.levels.graph.defects import run_parts
from ciguard.levels.graph.rounding import arrays_of
from ciguard.oracles.relations import with_tensors

if TYPE_CHECKING:
    from collections.abc import Generator

    from ciguard.domain.findings import Finding
    from ciguard.domain.graphs import GraphCase, Step
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Fill
    from ciguard.levels.graph.defects import Answers, Defect, Request


def is_division_by_zero(
    case: GraphCase, shown: Finding, defect: Defect
) -> Generator[Request, Answers, bool]:
    """Return whether a division by the integer 0 explains a difference.

    Either integers differ, or a mode refuses what eager execution divides by 0.
    """
    if shown.oracle != "differential":
        return False
    pair = [shown.outcomes[name] for name in defect.targets]
    if shown.kind != "refused" and not _differs_in_integers(*pair):
        return False
    reference = defect.targets[:1]
    others = replace(case, steps=tuple(map(_without_zeros, case.steps)))
    strict = [replace(variant, raises_division=True) for variant in (case, others)]
    ran = yield from run_parts(strict, defect, reference)
    divides = [_has_divided(outcomes[reference[0]]) for _, outcomes in ran]
    if len(divides) < len(strict) or not divides[0]:
        return False
    if divides[1]:
        return True  # the divisor is computed, so it cannot be replaced
    ran = yield from run_parts([others], defect)
    return bool(ran) and not any(defect.shown(other, outcomes) for other, outcomes in ran)


def _differs_in_integers(reference: Outcome, compiled: Outcome) -> bool:
    """Return whether two outcomes have the same shapes and differ in integers only."""
    pairs = list(zip(arrays_of(reference), arrays_of(compiled), strict=False))
    if any(mine.shape != other.shape for (_, mine), (_, other) in pairs):
        return False
    kinds = {
        mine.dtype.kind
        for (_, mine), (_, other) in pairs
        if not np.array_equal(mine, other, equal_nan=mine.dtype.kind in "fc")
    }
    return bool(kinds) and kinds <= {"i", "u"}


def _has_divided(outcome: Outcome) -> bool:
    return getattr(outcome, "exception", "") == FloatingPointError.__name__


def _without_zeros(step: Step) -> Step:
    """Return a step whose integer tensors contain no 0."""
    if isinstance(step, ApiCall):
        return with_tensors(step, _positive)
    return _positive(step)


def _positive(tensor: TensorValue) -> TensorValue:
    if tensor.dtype not in dtypes.INTEGERS:
        return tensor
    return replace(tensor, fill=_without_zero(tensor.fill))


def _without_zero(fill: Fill) -> Fill:
    match fill:
        case Constant(0):
            return Constant(1)
        case Explicit(data):
            return Explicit(tuple(element or 1 for element in data))
        case Uniform(seed, low, high) if low < 1 and high > -1:
            return Uniform(seed, 1.0, max(2.0, high))
        case _:
            return fill
