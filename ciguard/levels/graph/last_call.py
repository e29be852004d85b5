"""Whether the last call of a graph is right for the results that it got.

A call such as `nonzero` turns a rounding error into another shape, and `equal` into another truth
value, with which later calls compute something else. Suppose that each call whose result differs
returns the compiled one, too, when it is executed eagerly with the compiled results that it used.
Then no call is wrong, and rounding explains the difference: the first of these calls got results
that agree within the tolerance.
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
    from collections.abc import Generator, Mapping, Sequence

    from ciguard.domain.graphs import Step
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import ResultValue
    from ciguard.execution import Output
    from ciguard.levels.graph.defects import Answers, Defect, Request


def is_right_for_its_inputs(case: GraphCase, defect: Defect) -> Generator[Request, Answers, bool]:
    """Return whether the last call of a graph computes what it should from compiled results.

    So must each earlier call whose result differs. False if that is unknown: if the graph has
    gradients or a second run, if such a call changes a tensor in place, or if the difference does
    not show when all results are returned.
    """
    last = len(case.steps) - 1
    earlier = _earlier_calls(case)
    has_more_results = case.has_gradients or case.grows or case.is_mapped
    if case.outputs != (last,) or has_more_results or not earlier:
        return False
    reference, compiled = defect.targets
    whole = replace(case, outputs=(*earlier, last))
    for ran, outcomes in (yield from run_parts([whole], defect)):
        pairs = paired_outputs(ran, outcomes[reference], outcomes[compiled])
        values = {number: sides[0][1] for number, sides in pairs.items()}
        differing = sorted(_differing(ran, pairs))
        if last not in differing or not _are_comparable(case, differing):
            return False
        calls = [_with_values(case.steps[number], case.steps, values) for number in differing]
        runs = [replace(case, steps=(call,), outputs=(0,)) for call in calls if call is not None]
        if len(runs) < len(differing):
            return False
        answers = yield from run_parts(runs, defect, (reference,))
        expected = [values[number] for number in differing[: len(answers)]]
        return len(answers) == len(runs) and all(
            _returns(alone, answer[reference], value)
            for (alone, answer), value in zip(answers, expected, strict=True)
        )
    return False


def _returns(case: GraphCase, outcome: Outcome, expected: Output) -> bool:
    """Return whether a graph returned an output, within the tolerance."""
    found = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    inputs = input_precision_of(case)
    return found is not None and compare_outputs(found, expected, inputs) is None


def _earlier_calls(case: GraphCase) -> tuple[int, ...]:
    """Return the calls before the last step; none if one of that step's inputs has changed."""
    used = {result.step for result in results_used(case.steps[-1])}
    changed = {
        result.step
        for step in case.steps[:-1]
        if changes_in_place(step)
        for result in results_used(step)
    }
    calls = {number for number, step in enumerate(case.steps[:-1]) if isinstance(step, ApiCall)}
    return () if (used - calls) & changed else tuple(sorted(calls))


def _differing(case: GraphCase, pairs: Mapping[int, list[tuple[Output, Output]]]) -> set[int]:
    """Return the calls whose results differ."""
    inputs = input_precision_of(case)
    return {
        number
        for number, sides in pairs.items()
        if any(compare_outputs(left, right, inputs) is not None for left, right in sides)
    }


def _are_comparable(case: GraphCase, differing: Sequence[int]) -> bool:
    """Return whether the returned results are those which the calls used that differ.

    A call in place changes a result afterwards, so the last call alone may then differ.
    """
    if changes_in_place(case.steps[-1]):
        return False
    return len(differing) == 1 or not any(map(changes_in_place, case.steps))


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
