"""A layer in double precision: how exact single precision can be there, and who is nearer.

The same run in float64 is right to many more digits than float32 has. What it makes of weights and
data that are moved by one rounding of float32 is the layer's condition, whatever algorithm a
backend has for it: a target whose result lies within that of the exact one has only rounded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain import dtypes
from ciguard.domain.models import Check
from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs
from ciguard.levels.model.layer_runs import nudged_run, precision_of
from ciguard.oracles.comparing import relative_tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ciguard.domain.findings import Finding
    from ciguard.domain.models import ModelCase
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.comparing import InputPrecision

EXACT = "float64"
_NUMERIC = frozenset({"values", "nan"})
_MOVES = (1, 2)
"""Seeds of which number goes up and which goes down."""
_SLACK = 8.0
"""Times what one rounding of everything that goes in does: a layer rounds more than once."""
_LOSS = 0
"""Place of the loss among the numbers of a training step."""


def may_be_inexact(finding: Finding) -> bool:
    """Return whether rounding could explain a finding about a layer."""
    return finding.oracle == "differential" and finding.kind in _NUMERIC


def exact_runs(case: ModelCase) -> tuple[ModelCase, ...]:
    """Return the run in double precision, and again with what goes in moved by one rounding."""
    exact = replace(case, dtype=EXACT)
    return (exact, *(nudged_run(exact, move) for move in _MOVES))


def is_inexact(finding: Finding, case: ModelCase, exact: Mapping[str, Sequence[Outcome]]) -> bool:
    """Return whether both targets of a finding have only rounded, or are both lost.

    What single precision cannot compute, such as numbers beyond its range, and a jump that rounding
    decides, each backend misses in its own way.

    Args:
        finding: about a layer alone.
        case: its run.
        exact: by target, what came of `exact_runs`. Backends that have no float64 refuse them.

    Returns:
        False where no backend computes in double precision, or where those that do disagree.
    """
    known = [runs for runs in map(_decoded, exact.values()) if runs is not None]
    single = [_arrays(finding.outcomes[name]) for name in finding.targets]
    double = [right for right, *_ in known]
    inputs = precision_of(case)

    def near(found: list[list[NDArray[Any]]]) -> Iterator[bool]:
        for right, *moved in known:
            floor = _of_what_arrives(right, inputs) if case.check is Check.TRAIN else 0.0
            yield from (_is_near(one, right, moved, inputs, floor) for one in found)

    # What one makes of rounding may be its defect, and must not excuse it: each of them judges.
    return bool(known) and (all(near(single + double)) or not any(near(single)))


def _of_what_arrives(right: list[NDArray[Any]], inputs: InputPrecision) -> float:
    """Return how far gradients may be off, whatever a layer makes of the rounding of its inputs.

    The gradient of a weight is a sum of inputs times what arrives from above. Where that cancels,
    as behind a softmax that is certain, its rounding stays, times inputs that may be huge. What
    arrives is the derivative 2·(y - t)/n of the mean of n squares, at most 2·√loss.
    """
    largest = max(abs(inputs.low), abs(inputs.high))
    arrives = 2.0 * math.sqrt(float(np.max(right[_LOSS], initial=0.0)))
    floor = largest * arrives * dtypes.EPSILON["float32"]
    return floor if math.isfinite(floor) else 0.0


def _decoded(runs: Sequence[Outcome]) -> list[list[NDArray[Any]]] | None:
    arrays = [_arrays(run) for run in runs]
    return arrays if len(arrays) == 1 + len(_MOVES) and all(arrays) else None


def _arrays(outcome: Outcome) -> list[NDArray[Any]]:
    """Return every floating-point array of a result; none if the run did not end well."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    return [] if output is None else list(_floating(output))


def _floating(output: Output) -> Iterator[NDArray[Any]]:
    match output:
        case TensorOutput(_, _, numbers) | TensorDigest(_, _, numbers) if numbers.dtype.kind == "f":
            yield numbers.astype(np.float64)
        case Container(items=items):
            for item in items:
                yield from _floating(item)
        case _:
            return


def _is_near(
    found: list[NDArray[Any]],
    exact: list[NDArray[Any]],
    moved: list[list[NDArray[Any]]],
    inputs: InputPrecision,
    of_gradients: float,
) -> bool:
    if [array.shape for array in found] != [array.shape for array in exact]:
        return False
    for place, (one, right) in enumerate(zip(found, exact, strict=True)):
        near = [other[place] for other in moved if other[place].shape == right.shape]
        floor = of_gradients if place != _LOSS else 0.0
        if not _is_within(one, right, near, inputs, floor):
            return False
    return True


def _is_within(
    one: NDArray[Any],
    right: NDArray[Any],
    near: list[NDArray[Any]],
    inputs: InputPrecision,
    floor: float,
) -> bool:
    finite = np.isfinite(right)
    if not np.array_equal(finite, np.isfinite(one)):
        return False
    if not finite.any():
        return True
    error = float(np.abs(one - right)[finite].max())
    sensitivity = max((float(np.abs(other - right)[finite].max()) for other in near), default=0.0)
    sensitivity = max(sensitivity, floor)
    largest = max(float(np.abs(right[finite]).max()), inputs.scale)
    rounding = relative_tolerance("float32", count=right.size, inputs=inputs) * largest
    return error <= rounding + _SLACK * sensitivity
