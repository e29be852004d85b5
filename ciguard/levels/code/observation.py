"""What programs say of the data in them: what blocks were called with, and what came out."""

from __future__ import annotations

from itertools import count, takewhile
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs
from ciguard.levels.code.blocks import BlockInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output

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


def _fed(output: Output) -> BlockInput | None:
    match output:
        case TensorOutput(dtype, shape, elements) | TensorDigest(dtype, shape, elements):
            is_index = elements.dtype.kind in "iu" and bool(elements.size)
            below = max(1, int(elements.max()) + 1) if is_index else 0
            return BlockInput(tuple(shape), dtype, below)
        case _:
            return None
