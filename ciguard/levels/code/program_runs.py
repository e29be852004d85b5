"""What came of a program: how it ended, and the names, shapes and dtypes of what it computed.

Values are not compared: initialisers, optimisers and the order of sums change between versions by
right, and training makes much of little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.findings import Evidence
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.domain.programs import located
from ciguard.execution import (
    Container,
    Scalar,
    TensorDigest,
    TensorOutput,
    Unreadable,
    decode_outputs,
)
from ciguard.oracles import headline, outcome_shown
from ciguard.oracles.comparing import MUCH, Difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import ProgramCase
    from ciguard.execution import Output

_LACKING = re.compile(
    r"has no attribute|cannot import name|No module named|unexpected keyword argument"
    r"|[Uu]nrecognized keyword|[Kk]eyword argument not understood|Unknown keyword|No such module"
)
"""What says that a version lacks a name or a parameter."""
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE]\d{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRun:
    """What a program that ran to its end left."""

    block: str = ""
    """The class of the error that its block ended in, alone; empty where that ran."""
    outputs: Mapping[str, Output] = field(default_factory=dict)
    memory: tuple[float, ...] = ()
    """Bytes that the process held after each cycle, where there were several."""
    cpu_s: tuple[float, ...] = ()
    """Time of the processor that each cycle took."""


def program_run(outcome: Outcome) -> ProgramRun | None:
    """Return what a program left; None if it did not end well, or left what cannot be read."""
    parts = _parts(decode_outputs(outcome.encoded)) if isinstance(outcome, Passed) else {}
    match parts.get("block"), parts.get("outputs"):
        case Scalar("s", block), Container() as outputs:
            return ProgramRun(
                block=block,
                outputs=_parts(outputs),
                memory=_numbers(parts.get("memory")),
                cpu_s=_numbers(parts.get("cpu")),
            )
        case _:
            return None


def _parts(output: Output | None) -> dict[str, Output]:
    if not isinstance(output, Container):
        return {}
    return dict(zip(output.keys, output.items, strict=False))


def _numbers(output: Output | None) -> tuple[float, ...]:
    return tuple(map(float, output.elements)) if isinstance(output, TensorOutput) else ()


def is_lacking(outcome: Outcome) -> bool:
    """Return whether a version has no such name or parameter: that says nothing of what it has."""
    if not isinstance(outcome, Rejected):
        return False
    return outcome.stage is not Stage.CALL or bool(_LACKING.search(outcome.message))


def compare_programs(reference: Outcome, other: Outcome) -> Difference | None:
    """Return how two runs of one program differ, None when they agree or cannot be compared."""
    if is_lacking(reference) or is_lacking(other):
        return None
    match reference, other:
        case Passed(), Passed():
            return _compare_runs(program_run(reference), program_run(other))
        case Passed(), Rejected(exception):
            return Difference("refused", f"refused with {_said(other)}", exception)
        case Rejected(exception), Passed():
            return Difference("accepted", f"was refused with {_said(reference)}", exception)
        case _:
            return None


def _said(outcome: Rejected) -> str:
    return f"{outcome.exception}: {headline(located(outcome.message).message)}"


def _compare_runs(mine: ProgramRun | None, theirs: ProgramRun | None) -> Difference | None:
    if mine is None or theirs is None:
        return None
    for name in sorted({*mine.outputs, *theirs.outputs}):
        one, two = (_form(run.outputs.get(name)) for run in (mine, theirs))
        for kind, left, right in zip(("structure", "dtype", "shape"), one, two, strict=True):
            if left != right:
                return Difference(kind, f"{name} is {left} vs {right}", name)
    return None


def _form(output: Output | None) -> tuple[str, str, str]:
    """Return structure, dtype and shape; what cannot be told is empty."""
    match output:
        case None:
            return "nothing", "", ""
        case TensorOutput(dtype, shape) | TensorDigest(dtype, shape):
            return "a tensor", dtype, str(list(shape))
        case Unreadable(dtype):
            return "a tensor", dtype, "unknown"
        case Scalar(kind):
            return {"i": "an int", "f": "a float", "o": "a bool"}.get(kind, "an object"), "", ""
        case Container(type_name):
            return f"a {type_name}", "", ""


def programs_held_apart(
    case: ProgramCase, difference: Difference, sides: Mapping[str, Outcome]
) -> Evidence:
    """Return how one program ended on two targets, or what it computed there."""
    reference, other = sides.values()
    both = programs_side_by_side(reference, other, difference)
    expected, observed = (f"{name}: {side}" for name, side in zip(sides, both, strict=True))
    path, is_negative = case.ancestry.path, case.intent is Intent.VIOLATING
    sentence = path[-1].sentence if is_negative and path else ""
    return Evidence(
        expected=expected,
        observed=observed,
        law="The same program ends alike everywhere, and computes the same shapes and types",
        source=f"the documentation: “{sentence}”" if sentence else "",
    )


def programs_side_by_side(
    reference: Outcome, other: Outcome, difference: Difference
) -> tuple[str, str]:
    """Return how two runs ended; where both ran to their ends, the output that differs."""
    if difference.kind in {"refused", "accepted"}:
        return ending(reference), ending(other)
    left, _, right = difference.text.partition(" vs ")
    return left, f"{difference.detail} is {right}"


def ending(outcome: Outcome) -> str:
    """Return how a program ended, in a phrase whose subject is the program."""
    return "runs to its end" if isinstance(outcome, Passed) else outcome_shown(outcome)


def asks_for_much(case: ProgramCase) -> bool:
    """Return whether a mutation of a program put in a large number."""
    return any(_is_large_in(step.after) for step in case.ancestry.path)


def _is_large_in(text: str) -> bool:
    """Return whether a number in the text of a value is large."""
    return any(float(number) >= MUCH for number in _NUMBER.findall(text))
