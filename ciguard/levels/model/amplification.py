"""Accumulated inconsistency (ACC) of a model, which guides mutation (LEMON, section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.models import Check
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import value_to_json
from ciguard.execution import Container, TensorOutput, decode_outputs
from ciguard.execution.worker.fills import elements
from ciguard.levels.model.inconsistency import accumulated_inconsistency

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ciguard.domain.models import ModelCase
    from ciguard.domain.outcomes import Outcome

_MIN_TARGETS = 2


def amplification(case: ModelCase, outcomes: Mapping[str, Outcome]) -> float | None:
    """Return ACC of a model: D_MAD summed over its inputs and all pairs of targets.

    Args:
        case: a run of the model.
        outcomes: the outcomes of the run, by target.

    Returns:
        A number >= 0; None if the run does not predict, or fewer than two targets returned outputs
        of the right shape.
    """
    if case.check is not Check.PREDICT:
        return None
    outputs = list(first_outputs(case, outcomes).values())
    return (
        accumulated_inconsistency(truth_of(case), outputs) if len(outputs) >= _MIN_TARGETS else None
    )


def truth_of(case: ModelCase) -> NDArray[np.float64]:
    """Return G, the expected first output of a run, with the batch dimension first."""
    fill = value_to_json(case.truth)[3]
    truth = elements(fill, case.truth.dtype, case.truth.shape)
    return np.asarray(truth, dtype=np.float64)


def first_outputs(
    case: ModelCase, outcomes: Mapping[str, Outcome]
) -> dict[str, NDArray[np.float64]]:
    """Return the first output of a run that predicts, by target, where it was stored whole."""
    return {
        name: output
        for name, outcome in outcomes.items()
        if isinstance(outcome, Passed)
        and (output := _first_output(outcome, case.truth.shape)) is not None
    }


def _first_output(outcome: Passed, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    """Return the first output of a run; None unless it was stored whole and has a shape."""
    match decode_outputs(outcome.encoded):
        case Container(items=(Container(items=(TensorOutput(_, output_shape, numbers), *_)), *_)):
            is_number = numbers.dtype.kind in "fiu"
            return (
                numbers.astype(np.float64).reshape(shape)
                if output_shape == shape and is_number
                else None
            )
        case _:
            return None
