"""Recorded variables of programs: the inputs of blocks, and results."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count, takewhile
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Passed
from ciguard.domain.programs import ProgramCase
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs
from ciguard.levels import cost_of
from ciguard.levels.code.blocks import BlockTensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.levels import Batch
    from ciguard.levels.code.nodes import CandidateBlock

OUTPUTS = "outputs"
"""Key of the variables in a program's recorded result."""
_RESULT, _INPUT = "y", "fed_{}"


def variables_of(outcome: Outcome) -> Mapping[str, Output]:
    """Return the global variables of a program at its end, by name; empty if it did not pass."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    variables = _by_key(output).get(OUTPUTS)
    return _by_key(variables)


def _by_key(output: Output | None) -> dict[str, Output]:
    if not isinstance(output, Container) or not output.keys:
        return {}
    return dict(zip(map(str, output.keys), output.items, strict=False))


def observed_forms(outcome: Outcome) -> tuple[BlockTensor, ...]:
    """Return the forms of the inputs of blocks, in order, from a program that records them."""
    variables = variables_of(outcome)
    names = takewhile(variables.__contains__, (_INPUT.format(number) for number in count(1)))
    forms = [_form_of(variables[name]) for name in names]
    return tuple(form for form in forms if form is not None)


def result_of(outcome: Outcome) -> BlockTensor | None:
    """Return the form of the result of a block that ran alone; None if it is not a tensor."""
    variables = variables_of(outcome)
    return _form_of(variables[_RESULT]) if _RESULT in variables else None


def all_passed(row: Sequence[Outcome]) -> bool:
    """Return whether a program passed on every target; the row has one outcome per target."""
    return all(isinstance(outcome, Passed) for outcome in row)


def successful_candidates(
    candidates: Sequence[CandidateBlock], rows: Sequence[Sequence[Outcome]]
) -> Iterator[CandidateBlock]:
    """Yield the candidates whose results have the same form on all targets, with that form.

    If the forms differed, no next block would fit on all targets.
    """
    for candidate, row in zip(candidates, rows, strict=False):
        results = [result_of(outcome) if isinstance(outcome, Passed) else None for outcome in row]
        forms = {(form.shape, form.dtype) if form else None for form in results}
        result_form = results[0] if len(forms) == 1 else None
        if result_form is not None and _can_continue(candidate.input_form, result_form):
            yield replace(candidate, result_form=result_form)


def _can_continue(input_form: BlockTensor, result_form: BlockTensor) -> bool:
    """Return whether a next block can take a result: it has as many samples and is not empty."""
    return input_form.shape[:1] == result_form.shape[:1] and 0 not in result_form.shape


def _form_of(output: Output) -> BlockTensor | None:
    """Return the form of a tensor; None for other outputs."""
    match output:
        case TensorOutput(dtype, shape, elements) | TensorDigest(dtype, shape, elements):
            is_index = elements.dtype.kind in "iu" and bool(elements.size)
            below = max(1, int(elements.max()) + 1) if is_index else 0
            return BlockTensor(tuple(shape), dtype, below)
        case _:
            return None


def case_costs(batch: Batch, rows: Sequence[Sequence[Outcome]]) -> tuple[tuple[str, int], ...]:
    """Return pairs of an API and the cost of its crashes and hangs, from cases with one cycle."""
    costs: Counter[str] = Counter()
    for case, row in zip(batch.cases, rows, strict=False):
        if isinstance(case, ProgramCase) and case.cycles == 1:
            costs[case.api] += max(map(cost_of, row))
    return tuple((api, cost) for api, cost in costs.items() if cost)
