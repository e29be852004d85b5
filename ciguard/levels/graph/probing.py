"""Results of probes: which steps of a graph passed, and the graph that is left of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.graphs import results_used
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import ResultValue, TensorValue, Value
from ciguard.execution import Container, Scalar, decode_outputs
from ciguard.levels.graph.reshaping import kept_steps, with_results, without_links
from ciguard.levels.graph.samples import sample_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.graphs import GraphCase, Step
    from ciguard.domain.outcomes import Outcome
    from ciguard.levels.graph.samples import Sample


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe shows about a graph."""

    steps: tuple[Step, ...]
    """Steps that passed, with tensors like the observed results."""
    samples: tuple[Sample, ...]
    """Samples of the calls that passed."""
    attempted: int
    """Number of calls of the graph before the probe."""


def probed(case: GraphCase, outcome: Outcome) -> Probed | None:
    """Return what a probe shows; None if it did not return the results of all steps."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    if not isinstance(output, Container) or len(output.items) != len(case.steps):
        return None
    samples: dict[int, Sample] = {}
    kept: set[int] = set()
    for number, (step, item) in enumerate(zip(case.steps, output.items, strict=True)):
        if isinstance(step, TensorValue):
            kept.add(number)
        elif not isinstance(item, Scalar) and (sample := sample_of(step, item)) is not None:
            samples[number] = sample
            kept.add(number)
    steps = [with_results(step, lambda result: _observed(result, samples)) for step in case.steps]
    left = _without_unused_inputs(kept_steps(steps, kept))
    calls = [step for step in steps if isinstance(step, ApiCall)]
    return Probed(
        steps=left,
        samples=tuple(
            replace(samples[number], call=without_links(step))
            for number, step in enumerate(steps)
            if number in samples and isinstance(step, ApiCall)
        ),
        attempted=len(calls),
    )


def _observed(result: ResultValue, samples: dict[int, Sample]) -> Value:
    """Return a result with a tensor like the observed one."""
    sample = samples.get(result.step)
    if sample is None or max(result.item, 0) >= len(sample.results):
        return result
    return replace(result, form=sample.results[max(result.item, 0)])


def _without_unused_inputs(steps: Sequence[Step]) -> tuple[Step, ...]:
    used = {result.step for step in steps for result in results_used(step)}
    kept = {
        number for number, step in enumerate(steps) if isinstance(step, ApiCall) or number in used
    }
    return kept_steps(steps, kept)


def pairs_of(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """Return pairs of an API and another that uses its result; the first is empty for an input."""
    pairs = []
    for step in steps:
        if isinstance(step, ApiCall):
            pairs += [(_api_of(steps[result.step]), step.api) for result in results_used(step)]
    return pairs


def _api_of(step: Step) -> str:
    return step.api if isinstance(step, ApiCall) else ""
