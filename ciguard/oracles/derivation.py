"""Derivation: a program does not keep what its last block promises (MoCo, section III-A3).

A block whose arguments are legal, and which runs alone, runs in a program too. A block whose
argument the documentation forbids is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain import (
    Evidence,
    Finding,
    Intent,
    Operator,
    Passed,
    ProgramCase,
    Rejected,
    Severity,
    located,
    shortened,
)
from ciguard.oracles.contract import headline, registered
from ciguard.oracles.misfits import is_misfit
from ciguard.oracles.program_runs import is_lacking, program_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain import Case, Derivation, Outcome
    from ciguard.oracles.contract import Subject

DERIVATION = "derivation"
FAILED = "positive-failed"
ACCEPTED = "accepted-illegal"
_MOST_VALUE = 60


class DerivationOracle:
    """Looks at the last step that a program was derived by, where all targets treat it alike.

    What one target runs and another refuses is a difference between targets: another oracle's.
    """

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding if every target that has what the program needs breaks the promise."""
        if not isinstance(case, ProgramCase) or case.cycles > 1:
            return []
        if not case.block or not case.ancestry.path:
            return []
        is_negative = case.intent is Intent.VIOLATING
        judged = _accepted if is_negative else _failed
        found = judged(case, {name: out for name, out in outcomes.items() if not is_lacking(out)})
        if found is None:
            return []
        step = case.ancestry.path[-1]
        return [
            Finding(
                oracle=DERIVATION,
                kind=ACCEPTED if is_negative else FAILED,
                severity=Severity.LOW if is_negative else Severity.MEDIUM,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=found.targets,
                detail=step.parameter or step.operator.value,
                message=f"{_named(step, subject.api)} {found.claim}",
                evidence=found.evidence,
            )
        ]


@dataclass(frozen=True, slots=True)
class _Broken:
    """A broken promise, in words."""

    targets: tuple[str, ...]
    claim: str
    """A phrase whose subject is what the block calls."""
    evidence: Evidence


def _failed(case: ProgramCase, outcomes: Mapping[str, Outcome]) -> _Broken | None:
    """Return how a program fails that ought to run; None where it runs, or misfits, anywhere."""
    refused = {name: out for name, out in outcomes.items() if isinstance(out, Rejected)}
    runs_somewhere = any(isinstance(out, Passed) for out in outcomes.values())
    if not refused or runs_somewhere or any(map(_says_nothing, refused.values())):
        return None
    step, first = case.ancestry.path[-1], next(iter(refused.values()))
    said = located(first.message)
    trigger = f"{first.exception}: {headline(said.message)}"
    evidence = Evidence(
        expected="the program runs, as its block does alone, forwards and backwards",
        observed=f"line {said.line} of the program raises {trigger}",
        law="A block with legal arguments that runs alone runs in a program too",
        source=_quoted(step),
    )
    return _Broken(tuple(refused), f"runs alone but not in a program: {trigger}", evidence)


def _says_nothing(refusal: Rejected) -> bool:
    return located(refusal.message).in_block or is_misfit(refusal)


def _accepted(case: ProgramCase, outcomes: Mapping[str, Outcome]) -> _Broken | None:
    """Return how a forbidden argument is taken everywhere, by the block and by the program."""
    step = case.ancestry.path[-1]
    runs = [program_run(out) for out in outcomes.values()]
    if not runs or not step.sentence or any(run is None or run.block for run in runs):
        return None
    evidence = Evidence(
        expected=f"an exception about {step.parameter!r}",
        observed="the block runs alone, forwards and backwards, and the program trains with it",
        law=f"{step.parameter!r} is not {shortened(step.after, _MOST_VALUE)}",
        source=_quoted(step),
    )
    claim = f"is accepted, alone and in a program, against {_quoted(step)}"
    return _Broken(tuple(outcomes), claim, evidence)


def _quoted(step: Derivation) -> str:
    return f"the documentation: “{step.sentence}”" if step.sentence else ""


def _named(step: Derivation, api: str) -> str:
    """Return what a block calls, and what was changed of it."""
    before, after = (shortened(text, _MOST_VALUE) for text in (step.before, step.after))
    match step.operator:
        case Operator.NONE:
            return step.api or api
        case Operator.REPLACEMENT:
            return f"{after} in the place of {before}"
        case Operator.GENERATION | Operator.BOUNDARY:
            was = f"was {before}" if before else "was not given"
            return f"{step.api or api} with {step.parameter}={after} ({was})"


registered(DERIVATION, DerivationOracle)
