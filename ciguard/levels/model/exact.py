"""Runs of layers in double precision, as a reference for results in single precision.

A run in float64 is accurate to many more digits than float32 has. How much its result changes if
weights and data are perturbed by one rounding of float32 is the layer's condition, whatever
algorithm a backend uses. If a target's result differs from the exact result by no more than that,
the target has only rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain import dtypes
from ciguard.domain.models import Check
from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs
from ciguard.levels.model.layer_runs import DOUBLE, nudged_run, precision_of
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

_NUMERIC_KINDS = frozenset({"values", "nan"})
_PERTURBATION_SEEDS = (1, 2)
"""Seeds that decide which numbers a perturbation raises and which it lowers."""
_MAX_ROUNDINGS = 8.0
"""Allowed error, in units of the effect of rounding all inputs once; a layer rounds several
times."""
_LOSS_INDEX = 0
"""Index of the loss among the numbers of a training step."""


@dataclass(frozen=True, slots=True)
class _Tolerance:
    """Error that rounding allows in a result that is compared with the exact one."""

    dtype: str
    """Dtype in which the result was computed."""
    inputs: InputPrecision
    """Precision of the inputs."""
    gradient_floor: float
    """Error that is allowed in any gradient."""


def may_be_inexact(finding: Finding) -> bool:
    """Return whether rounding could explain a finding about a layer."""
    return finding.oracle == "differential" and finding.kind in _NUMERIC_KINDS


def exact_runs(case: ModelCase) -> tuple[ModelCase, ...]:
    """Return the run in double precision, and the same run with perturbed inputs, once per seed."""
    exact = replace(case, dtype=DOUBLE)
    runs = (exact, *(nudged_run(exact, move) for move in _PERTURBATION_SEEDS))
    # Weights are float32: they cannot move by as little as one rounding of float64.
    return tuple(replace(run, nudge=0) for run in runs) if case.dtype == DOUBLE else runs


def is_inexact(finding: Finding, case: ModelCase, exact: Mapping[str, Sequence[Outcome]]) -> bool:
    """Return whether both targets of a finding are near the exact result, or both are far from it.

    Near results differ by rounding only. Both are far if single precision cannot compute the
    result, as beyond its range, or if rounding decides on which side of a jump a result is.

    Args:
        finding: a finding about a single layer.
        case: the run of the layer.
        exact: the outcomes of `exact_runs`, by target; a backend without float64 rejects the runs.

    Returns:
        False also if no backend computes in double precision, or the exact results disagree.
    """
    references = [runs for runs in map(_decoded_runs, exact.values()) if runs is not None]
    single = [_arrays(finding.outcomes[name]) for name in finding.targets]
    double = [unperturbed for unperturbed, *_ in references]
    inputs = precision_of(case)
    dtype = case.dtype if case.dtype in dtypes.EPSILON else "float32"

    def are_near(results: list[list[NDArray[Any]]]) -> Iterator[bool]:
        for reference, *perturbed in references:
            floor = _gradient_floor(reference, inputs) if case.check is Check.TRAIN else 0.0
            for result in results:
                tolerance = _Tolerance(dtype, inputs, floor)
                yield _is_near(result, reference, perturbed, tolerance)

    # A backend's sensitivity may be its defect, so each one must confirm the others.
    return bool(references) and (all(are_near(single + double)) or not any(are_near(single)))


def _gradient_floor(exact: list[NDArray[Any]], inputs: InputPrecision) -> float:
    """Return the error of gradients that rounding alone causes in any layer.

    The gradient of a weight is a sum of products of inputs and the incoming gradient. If the
    incoming gradient cancels, as after a softmax with a probability of 1, its rounding error
    remains, multiplied by inputs that may be huge. The incoming gradient is the derivative
    2·(y - t)/n of a mean of n squares, which is at most 2·√loss.
    """
    largest = max(abs(inputs.low), abs(inputs.high))
    incoming = 2.0 * math.sqrt(float(np.max(exact[_LOSS_INDEX], initial=0.0)))
    floor = largest * incoming * dtypes.EPSILON["float32"]
    return floor if math.isfinite(floor) else 0.0


def _decoded_runs(runs: Sequence[Outcome]) -> list[list[NDArray[Any]]] | None:
    """Return the arrays of a target's exact runs; None unless all runs have results."""
    arrays = [_arrays(run) for run in runs]
    return arrays if len(arrays) == 1 + len(_PERTURBATION_SEEDS) and all(arrays) else None


def _arrays(outcome: Outcome) -> list[NDArray[Any]]:
    """Return every floating-point array of a result; empty if the run failed."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    return [] if output is None else list(_floating_arrays(output))


def _floating_arrays(output: Output) -> Iterator[NDArray[Any]]:
    match output:
        case TensorOutput(_, _, numbers) | TensorDigest(_, _, numbers) if numbers.dtype.kind == "f":
            yield numbers.astype(np.float64)
        case Container(items=items):
            for item in items:
                yield from _floating_arrays(item)
        case _:
            return


def _is_near(
    result: list[NDArray[Any]],
    exact: list[NDArray[Any]],
    perturbed: list[list[NDArray[Any]]],
    tolerance: _Tolerance,
) -> bool:
    """Return whether all arrays of a result differ from the exact arrays by rounding only."""
    if [array.shape for array in result] != [array.shape for array in exact]:
        return False
    for index, (array, expected) in enumerate(zip(result, exact, strict=True)):
        neighbours = [other[index] for other in perturbed if other[index].shape == expected.shape]
        floor = tolerance.gradient_floor if index != _LOSS_INDEX else 0.0
        if not _is_within(array, expected, neighbours, replace(tolerance, gradient_floor=floor)):
            return False
    return True


def _is_within(
    array: NDArray[Any],
    expected: NDArray[Any],
    neighbours: list[NDArray[Any]],
    tolerance: _Tolerance,
) -> bool:
    """Return whether an array differs from the exact one by rounding only.

    Args:
        array: the array to check.
        expected: the exact array.
        neighbours: the arrays of the exact runs with perturbed inputs.
        tolerance: the allowed error.
    """
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(array)):
        return False
    if not finite.any():
        return True
    error = float(np.abs(array[finite] - expected[finite]).max())
    sensitivity = max(
        (float(np.abs(other[finite] - expected[finite]).max()) for other in neighbours),
        default=0.0,
    )
    sensitivity = max(sensitivity, tolerance.gradient_floor)
    inputs = tolerance.inputs
    largest = max(float(np.abs(expected[finite]).max()), inputs.scale)
    rounding = relative_tolerance(tolerance.dtype, count=expected.size, inputs=inputs) * largest
    return error <= rounding + _MAX_ROUNDINGS * sensitivity
