"""What programs say of the data in them: what blocks were called with, and what came out."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, takewhile
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs
from ciguard.levels.code.blocks import BlockInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.levels.code.nodes import CandidateBlock

OUTPUTS = "outputs"
"""Key of a program's variables in what came of it."""
_RESULT, _FED = "y", "fed_{}"


def variables_of(outcome: Outcome) -> Mapping[str, Output]:
    """Return the variables of a program that ran, by name; none if it did not."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    held = _by_key(output).get(OUTPUTS)
    return _by_key(held)


def _by_key(output: Output | None) -> dict[str, Output]:
    if not isinstance(output, Container) or not output.keys:
        return {}
    return dict(zip(map(str, output.keys), output.items, strict=False))


def fed_in(outcome: Outcome) -> tuple[BlockInput, ...]:
    """Return what the blocks of an observing program were called with, in order."""
    variables = variables_of(outcome)
    names = takewhile(variables.__contains__, (_FED.format(number) for number in count(1)))
    found = [_fed(variables[name]) for name in names]
    return tuple(fed for fed in found if fed is not None)


def result_of(outcome: Outcome) -> BlockInput | None:
    """Return what a block that ran alone gave; None where that is no tensor."""
    variables = variables_of(outcome)
    return _fed(variables[_RESULT]) if _RESULT in variables else None


def all_passed(row: Sequence[Outcome]) -> bool:
    """Return whether a program ran on every target."""
    return all(isinstance(outcome, Passed) for outcome in row)


def that_ran(
    tried: Sequence[CandidateBlock], rows: Sequence[Sequence[Outcome]]
) -> Iterator[CandidateBlock]:
    """Yield the candidates that ran on every target, with what they gave, alike, on each.

    Behind one that gives another shape or type somewhere, no block would fit on all of them.
    """
    for candidate, row in zip(tried, rows, strict=False):
        given = [result_of(outcome) if isinstance(outcome, Passed) else None for outcome in row]
        forms = {(fed.shape, fed.dtype) if fed else None for fed in given}
        gives = given[0] if len(forms) == 1 else None
        if gives is not None and _is_handed_on(candidate.takes, gives):
            yield replace(candidate, gives=gives)


def _is_handed_on(takes: BlockInput, gives: BlockInput) -> bool:
    """Return whether a program can go on with what a block gives: as many samples, of anything."""
    return takes.shape[:1] == gives.shape[:1] and 0 not in gives.shape


def _fed(output: Output) -> BlockInput | None:
    match output:
        case TensorOutput(dtype, shape, elements) | TensorDigest(dtype, shape, elements):
            is_index = elements.dtype.kind in "iu" and bool(elements.size)
            below = max(1, int(elements.max()) + 1) if is_index else 0
            return BlockInput(tuple(shape), dtype, below)
        case _:
            return None
