"""Variables of programs that ran: the inputs of their blocks, and the results."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count, takewhile
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Passed
from ciguard.domain.programs import ProgramCase
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs
from ciguard.levels import cost_of
from ciguard.levels.code.blocks import BlockInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.levels import Batch
    from ciguard.levels.code.nodes import CandidateBlock

OUTPUTS = "outputs"
"""Key of a program's variables in its recorded result."""
_RESULT, _FED = "y", "fed_{}"


def variables_of(outcome: Outcome) -> Mapping[str, Output]:
    """Return the variables of a program that ran, by name; empty if it did not run."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    variables = _by_key(output).get(OUTPUTS)
    return _by_key(variables)


def _by_key(output: Output | None) -> dict[str, Output]:
    if not isinstance(output, Container) or not output.keys:
        return {}
    return dict(zip(map(str, output.keys), output.items, strict=False))


def block_inputs_in(outcome: Outcome) -> tuple[BlockInput, ...]:
    """Return the inputs of the blocks of an observing program, in order."""
    variables = variables_of(outcome)
    names = takewhile(variables.__contains__, (_FED.format(number) for number in count(1)))
    block_inputs = [_block_input(variables[name]) for name in names]
    return tuple(block_input for block_input in block_inputs if block_input is not None)


def result_of(outcome: Outcome) -> BlockInput | None:
    """Return the form of the result of a block that ran alone; None if it is not a tensor."""
    variables = variables_of(outcome)
    return _block_input(variables[_RESULT]) if _RESULT in variables else None


def all_passed(row: Sequence[Outcome]) -> bool:
    """Return whether a program passed on every target."""
    return all(isinstance(outcome, Passed) for outcome in row)


def successful_candidates(
    tried: Sequence[CandidateBlock], rows: Sequence[Sequence[Outcome]]
) -> Iterator[CandidateBlock]:
    """Yield the candidates that passed with the same form of result on all targets.

    If the forms differ, no next block fits on all targets.
    """
    for candidate, row in zip(tried, rows, strict=False):
        results = [result_of(outcome) if isinstance(outcome, Passed) else None for outcome in row]
        forms = {
            (block_input.shape, block_input.dtype) if block_input else None
            for block_input in results
        }
        gives = results[0] if len(forms) == 1 else None
        if gives is not None and _can_continue(candidate.takes, gives):
            yield replace(candidate, gives=gives)


def _can_continue(takes: BlockInput, gives: BlockInput) -> bool:
    """Return whether a program can continue with a block's result: as many samples, not empty."""
    return takes.shape[:1] == gives.shape[:1] and 0 not in gives.shape


def _block_input(output: Output) -> BlockInput | None:
    match output:
        case TensorOutput(dtype, shape, elements) | TensorDigest(dtype, shape, elements):
            is_index = elements.dtype.kind in "iu" and bool(elements.size)
            below = max(1, int(elements.max()) + 1) if is_index else 0
            return BlockInput(tuple(shape), dtype, below)
        case _:
            return None


def case_costs(batch: Batch, rows: Sequence[Sequence[Outcome]]) -> tuple[tuple[str, int], ...]:
    """Return the cost of crashes and hangs by API, for cases that run once."""
    costs: Counter[str] = Counter()
    for case, row in zip(batch.cases, rows, strict=False):
        if isinstance(case, ProgramCase) and case.cycles == 1:
            costs[case.api] += max(map(cost_of, row))
    return tuple((api, cost) for api, cost in costs.items() if cost)
