"""Results of program runs, and their comparison: outcomes, and shapes and types of variables.

Values are not compared. Initialisers, optimisers and the order of sums may change between versions,
and training amplifies small differences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.findings import Evidence
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.domain.programs import locate_message
from ciguard.execution import (
    Container,
    Scalar,
    TensorDigest,
    TensorOutput,
    Unreadable,
    decode_outputs,
)
from ciguard.oracles import headline, outcome_in_words
from ciguard.oracles.comparing import LARGE_NUMBER, Difference
from ciguard.oracles.specifications import conventions_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import Derivation, ProgramCase
    from ciguard.execution import Output

_MISSING_API = re.compile(
    r"has no attribute|cannot import name|No module named|unexpected keyword argument"
    r"|[Uu]nrecognized keyword|[Kk]eyword argument not understood|Unknown keyword|No such module"
)
"""Pattern of messages that a version of the library lacks a name or a parameter."""
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE]\d{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRun:
    """The results of a program that ran to its end."""

    block: str = ""
    """Class of the exception that the block raised when it ran alone; empty if it passed."""
    outputs: Mapping[str, Output] = field(default_factory=dict)
    """Global variables at the end of the program, by name."""
    memory: tuple[float, ...] = ()
    """Memory of the process after each cycle, in bytes; empty if there was one cycle only."""
    cpu_s: tuple[float, ...] = ()
    """CPU time of each cycle, in seconds; empty if there was one cycle only."""


def program_run(outcome: Outcome) -> ProgramRun | None:
    """Return the results of a program; None if it failed or its record is unreadable."""
    parts = _items_by_key(decode_outputs(outcome.encoded)) if isinstance(outcome, Passed) else {}
    match parts.get("block"), parts.get("outputs"):
        case Scalar("s", block), Container() as outputs:
            return ProgramRun(
                block=block,
                outputs=_items_by_key(outputs),
                memory=_to_floats(parts.get("memory")),
                cpu_s=_to_floats(parts.get("cpu")),
            )
        case _:
            return None


def _items_by_key(output: Output | None) -> dict[str, Output]:
    if not isinstance(output, Container):
        return {}
    return dict(zip(output.keys, output.items, strict=False))


def _to_floats(output: Output | None) -> tuple[float, ...]:
    return tuple(map(float, output.elements)) if isinstance(output, TensorOutput) else ()


def lacks_api(outcome: Outcome) -> bool:
    """Return whether a program failed because the version lacks a name or a parameter."""
    if not isinstance(outcome, Rejected):
        return False
    return outcome.stage is not Stage.CALL or bool(_MISSING_API.search(outcome.message))


def compare_programs(reference: Outcome, other: Outcome) -> Difference | None:
    """Return how two runs of a program differ; None if they agree or are not comparable."""
    if lacks_api(reference) or lacks_api(other):
        return None
    match reference, other:
        case Passed(), Passed():
            return _compare_runs(program_run(reference), program_run(other))
        case Passed(), Rejected(exception):
            return Difference("refused", f"refused with {_exception_text(other)}", exception)
        case Rejected(exception), Passed():
            return Difference(
                "accepted", f"was refused with {_exception_text(reference)}", exception
            )
        case _:
            return None


def _exception_text(outcome: Rejected) -> str:
    return f"{outcome.exception}: {headline(locate_message(outcome.message).message)}"


def _compare_runs(reference: ProgramRun | None, other: ProgramRun | None) -> Difference | None:
    if reference is None or other is None:
        return None
    for name in sorted({*reference.outputs, *other.outputs}):
        left_form, right_form = (_form(run.outputs.get(name)) for run in (reference, other))
        kinds = ("structure", "dtype", "shape")
        for kind, left, right in zip(kinds, left_form, right_form, strict=True):
            if left != right:
                return Difference(kind, f"{name} is {left} vs {right}", name)
    return None


def _form(output: Output | None) -> tuple[str, str, str]:
    """Return structure, dtype and shape of a variable; each is empty if it does not apply."""
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


def program_evidence(
    case: ProgramCase, difference: Difference, sides: Mapping[str, Outcome]
) -> Evidence:
    """Return the outcomes of one program on two targets, or the results that differ."""
    reference, other = sides.values()
    texts = program_outcomes_in_words(reference, other, difference)
    expected, observed = (f"{name}: {side}" for name, side in zip(sides, texts, strict=True))
    path, is_negative = case.ancestry.path, case.intent is Intent.VIOLATING
    return Evidence(
        expected=expected,
        observed=observed,
        law="A program has the same outcome, shapes and types on all targets",
        source=source_of(path[-1]) if is_negative and path else "",
    )


def source_of(step: Derivation) -> str:
    """Return what makes the value of a step legal or illegal: documentation or a convention."""
    if not step.sentence:
        return ""
    conventions = [sentence for _, sentence in conventions_for(step.api, step.parameter)]
    source = "convention" if step.sentence in conventions else "the documentation"
    return f"{source}: “{step.sentence}”"


def program_outcomes_in_words(
    reference: Outcome, other: Outcome, difference: Difference
) -> tuple[str, str]:
    """Return how two runs ended; if both ran to the end, the variable that differs, on each."""
    if difference.kind in {"refused", "accepted"}:
        return ending(reference), ending(other)
    left, _, right = difference.text.partition(" vs ")
    return left, f"{difference.detail} is {right}"


def ending(outcome: Outcome) -> str:
    """Return how a program ended, as the predicate of a sentence about the program."""
    return "runs to its end" if isinstance(outcome, Passed) else outcome_in_words(outcome)


def has_large_number(case: ProgramCase) -> bool:
    """Return whether a mutation inserted a large number into a program."""
    return any(_has_large_number(step.after) for step in case.ancestry.path)


def _has_large_number(text: str) -> bool:
    """Return whether the text of a value has a large number."""
    return any(float(number) >= LARGE_NUMBER for number in _NUMBER.findall(text))
