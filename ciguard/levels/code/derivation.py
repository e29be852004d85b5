"""Derivation oracle: a program breaks a guarantee of its last block (MoCo, section III-A3).

A block with legal arguments that runs alone must run in a program too. A block with an argument
that the documentation forbids must be rejected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.programs import Operator, ProgramCase, locate_message
from ciguard.domain.text import shortened
from ciguard.levels.code.incompatibility import is_incompatibility
from ciguard.levels.code.program_runs import lacks_api, program_run
from ciguard.oracles import Traits, headline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import Derivation
    from ciguard.oracles import Subject

DERIVATION = "derivation"
FAILED = "positive-failed"
ACCEPTED = "accepted-illegal"
_MAX_VALUE = 60
_UNCHECKED_NONE = re.compile(r"\bNoneType\b")


class DerivationOracle:
    """Checks the last derivation step of a program that all targets treat alike.

    A program that only some targets accept is a difference between targets, which another oracle
    reports.
    """

    traits: ClassVar[Traits] = Traits(
        is_judged_alone=True,
        claims={
            FAILED: "a program fails whose last block runs alone.",
            ACCEPTED: "a forbidden argument is accepted.",
        },
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding if every target with the program's APIs breaks the guarantee."""
        if not isinstance(case, ProgramCase) or case.cycles > 1:
            return []
        if not case.block or not case.ancestry.path:
            return []
        is_negative = case.intent is Intent.VIOLATING
        check = _negative_violation if is_negative else _positive_violation
        supported = {name: out for name, out in outcomes.items() if not lacks_api(out)}
        violation = check(case, supported)
        if violation is None:
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
                targets=violation.targets,
                detail=step.parameter or step.operator.value,
                message=f"{_describe_step(_changing_step(case), subject.api)} {violation.claim}",
                evidence=violation.evidence,
            )
        ]


@dataclass(frozen=True, slots=True)
class _Violation:
    """A broken guarantee, in words."""

    targets: tuple[str, ...]
    claim: str
    """Phrase whose subject is the block's call."""
    evidence: Evidence


def _positive_violation(case: ProgramCase, outcomes: Mapping[str, Outcome]) -> _Violation | None:
    """Return how a program fails that must run; None if it runs on a target or is incompatible."""
    refused = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Rejected)}
    runs_somewhere = any(isinstance(outcome, Passed) for outcome in outcomes.values())
    step = case.ancestry.path[-1]
    guarantee = _GUARANTEES.get(step.operator, _RUNS_IN_PROGRAMS)
    if not refused or runs_somewhere or not all(map(guarantee.is_broken, refused.values())):
        return None
    first = next(iter(refused.values()))
    failure = locate_message(first.message)
    trigger = f"{first.exception}: {headline(failure.message)}"
    evidence = Evidence(
        expected=guarantee.expected,
        observed=f"line {failure.line} of the program raises {trigger}",
        law=guarantee.law,
        source=_documentation_quote(step),
    )
    return _Violation(tuple(refused), f"{guarantee.claim}: {trigger}", evidence)


def _is_library_fault(refusal: Rejected) -> bool:
    return not locate_message(refusal.message).in_block and not is_incompatibility(refusal)


def _fails_outside_control(refusal: Rejected) -> bool:
    """Return whether a layer rejects one sample but not the batch that is the control."""
    return not locate_message(refusal.message).in_block


def _fails_on_none(refusal: Rejected) -> bool:
    """Return whether None was used unchecked; an error that names the argument is correct."""
    failure = locate_message(refusal.message)
    return not failure.in_block and bool(_UNCHECKED_NONE.search(failure.message))


@dataclass(frozen=True, slots=True)
class _Guarantee:
    """What a positive program guarantees, and how a violation is described."""

    expected: str
    law: str
    claim: str
    is_broken: Callable[[Rejected], bool]


_RUNS_IN_PROGRAMS = _Guarantee(
    "the program runs, as its block does alone, forwards and backwards",
    "A block with legal arguments that runs alone runs in a program too",
    "runs alone but not in a program",
    _is_library_fault,
)
_GUARANTEES = {
    Operator.UNBATCHED: _Guarantee(
        "the layer runs on one sample, as it does on a batch",
        "A layer that takes a batch, and one sample by its documentation, runs on one",
        "runs on a batch but not on one sample",
        _fails_outside_control,
    ),
    Operator.OMITTED: _Guarantee(
        "the layer runs, or says what it must be given",
        "What is None by the signature can be left out",
        "stumbles over None, which is its default",
        _fails_on_none,
    ),
}


def _negative_violation(case: ProgramCase, outcomes: Mapping[str, Outcome]) -> _Violation | None:
    """Return how the block and the program accept a forbidden argument on all targets."""
    step = case.ancestry.path[-1]
    runs = [program_run(outcome) for outcome in outcomes.values()]
    if not runs or not step.sentence or any(run is None or run.block for run in runs):
        return None
    evidence = Evidence(
        expected=f"an exception about {step.parameter!r}",
        observed="the block runs alone, forwards and backwards, and the program trains with it",
        law=f"{step.parameter!r} is not {shortened(step.after, _MAX_VALUE)}",
        source=_documentation_quote(step),
    )
    claim = f"is accepted, alone and in a program, against {_documentation_quote(step)}"
    return _Violation(tuple(outcomes), claim, evidence)


def _documentation_quote(step: Derivation) -> str:
    return f"the documentation: “{step.sentence}”" if step.sentence else ""


def _changing_step(case: ProgramCase) -> Derivation:
    """Return the step that changed the block; removing the batch changes only its input."""
    *before, step = case.ancestry.path
    return before[-1] if before and step.operator is Operator.UNBATCHED else step


def _describe_step(step: Derivation, api: str) -> str:
    """Return the block's API, and the change to it."""
    before, after = (shortened(text, _MAX_VALUE) for text in (step.before, step.after))
    match step.operator:
        case Operator.NONE | Operator.UNBATCHED:
            return step.api or api
        case Operator.REPLACEMENT:
            return f"{after} in the place of {before}"
        case Operator.GENERATION | Operator.BOUNDARY:
            was = f"was {before}" if before else "was not given"
            return f"{step.api or api} with {step.parameter}={after} ({was})"
        case Operator.OMITTED:
            return f"{step.api or api} without {step.parameter} (was {before})"
