"""Simpler variants of a graph: fewer steps, simpler arguments, or smaller inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.graphs import results_used
from ciguard.domain.values import TensorValue
from ciguard.levels.api import perturbed_call, simpler_calls
from ciguard.levels.graph.reshaping import with_results, without_step
from ciguard.triage.simplifying import simpler_together, simpler_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.graphs import GraphCase, Step
    from ciguard.domain.values import Value
    from ciguard.oracles import Perturbation
    from ciguard.triage.simplifying import AnyArray


def simpler_graphs(case: GraphCase) -> Iterator[GraphCase]:
    """Yield variants of a graph with the same outputs and API, each simpler in one part."""
    yield from _in_plain_conditions(case)
    for number, step in enumerate(case.steps):
        if isinstance(step, ApiCall) and number not in case.outputs:
            shorter = without_step(case, number)
            if shorter.api == case.api:  # a finding about another call is another defect
                yield shorter
    for number, step in enumerate(case.steps):
        for simpler in (*_without_choices(step), *_simpler_steps(step)):
            yield _with_step(case, number, simpler)
    inputs = [step for step in case.steps if isinstance(step, TensorValue)]
    for change in simpler_together(inputs):
        yield replace(case, steps=tuple(_with_input(step, change) for step in case.steps))


def _in_plain_conditions(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the graph without each condition under which it runs."""
    if case.grows:
        yield replace(case, grows=False)
    if case.is_mapped:
        yield replace(case, is_mapped=False)
    if case.autocast:
        yield replace(case, autocast="")
    if case.layout:
        yield replace(case, layout="")
    if case.options:
        yield replace(case, options="")
    if case.copies:
        yield replace(case, copies=False)
    if case.has_gradients:
        yield replace(case, has_gradients=False)


def _without_choices(step: Step) -> Iterator[Step]:
    """Yield a call that uses either side of each choice between results, by their sizes."""
    if not any(result.other for result in results_used(step)):
        return
    yield with_results(step, lambda result: replace(result, other=None, beyond=0))
    yield with_results(step, lambda result: result.other or result)


def _simpler_steps(step: Step) -> Iterator[Step]:
    if isinstance(step, ApiCall):
        yield from simpler_calls(step)
        return
    yield from (value for value in simpler_values(step) if isinstance(value, TensorValue))


def _with_step(case: GraphCase, number: int, step: Step) -> GraphCase:
    return replace(case, steps=(*case.steps[:number], step, *case.steps[number + 1 :]))


def _with_input(step: Step, change: Callable[[AnyArray], Value]) -> Step:
    changed = change(step) if isinstance(step, TensorValue) else step
    return changed if isinstance(changed, TensorValue) else step


def perturbed_graph(case: GraphCase, perturb: Perturbation) -> GraphCase:
    """Return a graph with slightly perturbed numbers in its inputs and in the tensors of calls."""
    return replace(case, steps=tuple(_perturbed_step(step, perturb) for step in case.steps))


def _perturbed_step(step: Step, perturb: Perturbation) -> Step:
    if isinstance(step, ApiCall):
        return perturbed_call(step, perturb)
    (moved,) = perturb([step])
    return moved if isinstance(moved, TensorValue) else step
