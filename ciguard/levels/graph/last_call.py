"""Whether the last call of a graph is right for the results that it got.

A call such as `nonzero` turns a rounding error into another shape. Suppose that the earlier results
that it uses agree within the tolerance. If eager execution of the call on the compiled ones returns
the compiled result, too, then their rounding explains the difference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.graphs import GraphCase, results_used
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import Explicit, TensorValue
from ciguard.execution import Container, TensorOutput, decode_outputs
from ciguard.levels.graph.defects import paired_outputs, run_parts
from ciguard.levels.graph.reshaping import changes_in_place, with_results
from ciguard.oracles import input_precision_of
from ciguard.oracles.comparing import compare_outputs

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from ciguard.domain.graphs import Step
    from ciguard.domain.values import ResultValue
    from ciguard.execution import Output
    from ciguard.levels.graph.defects import Answers, Defect, Request


def is_right_for_its_inputs(case: GraphCase, defect: Defect) -> Generator[Request, Answers, bool]:
    """Return whether the last call of a graph computes what it should from compiled results.

    False if that is unknown: if the graph has gradients or a second size, if the last call changes
    a tensor in place, or if the difference does not show when all results are returned.
    """
    last = len(case.steps) - 1
    used = _calls_used(case)
    if case.outputs != (last,) or case.has_gradients or case.grows or not used:
        return False
    if changes_in_place(case.steps[last]):
        return False
    reference, compiled = defect.targets
    whole = replace(case, outputs=(*used, last))
    for ran, outcomes in (yield from run_parts([whole], defect)):
        pairs = paired_outputs(ran, outcomes[reference], outcomes[compiled])
        values = {number: sides[0][1] for number, sides in pairs.items()}
        if not pairs or not _differs_in_last_only(ran, pairs, last):
            return False
        call = _with_values(case.steps[last], case.steps, values)
        if call is None:
            return False
        alone = replace(case, steps=(call,), outputs=(0,))
        for _, answer in (yield from run_parts([alone], defect, (reference,))):
            outcome = answer[reference]
            found = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
            inputs = input_precision_of(alone)
            return found is not None and compare_outputs(found, values[last], inputs) is None
    return False


def _calls_used(case: GraphCase) -> tuple[int, ...]:
    """Return the calls whose results the last step uses; none if one of its inputs has changed."""
    used = sorted({result.step for result in results_used(case.steps[-1])})
    changed = {
        result.step
        for step in case.steps[:-1]
        if changes_in_place(step)
        for result in results_used(step)
    }
    inputs = {number for number in used if not isinstance(case.steps[number], ApiCall)}
    return () if inputs & changed else tuple(number for number in used if number not in inputs)


def _differs_in_last_only(
    case: GraphCase, pairs: Mapping[int, list[tuple[Output, Output]]], last: int
) -> bool:
    inputs = input_precision_of(case)
    differing = {
        number
        for number, sides in pairs.items()
        if any(compare_outputs(left, right, inputs) is not None for left, right in sides)
    }
    return differing == {last}


def _with_values(
    step: Step, steps: tuple[Step, ...], values: Mapping[int, Output]
) -> ApiCall | None:
    """Return a call with tensors in place of results; None if a value is not known wholly."""
    missing = []

    def value_of(result: ResultValue) -> TensorValue:
        given = steps[result.step]
        if isinstance(given, TensorValue):
            return given
        tensor = _tensor(values[result.step], result.item)
        if tensor is None:
            missing.append(result)
            return result.form
        return tensor

    call = with_results(step, value_of)
    return call if isinstance(call, ApiCall) and not missing else None


def _tensor(output: Output, item: int) -> TensorValue | None:
    if isinstance(output, Container) and 0 <= item < len(output.items):
        output = output.items[item]
    if not isinstance(output, TensorOutput) or output.elements.dtype.kind not in "biuf":
        return None
    return TensorValue(output.dtype, output.shape, Explicit(tuple(output.elements.tolist())))
