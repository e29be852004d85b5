"""Derivation oracle: a program breaks a guarantee of its last block (MoCo, section III-A3).

A block with legal arguments that runs alone must also run in a program. A block with an argument
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
from ciguard.levels.code.program_runs import lacks_api, program_run, source_of
from ciguard.oracles import Traits, headline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import Derivation
    from ciguard.oracles import Subject

DERIVATION = "derivation"
"""Name of the oracle."""
FAILED = "positive-failed"
"""Kind of a finding: a program fails although its last block runs alone."""
ACCEPTED = "accepted-illegal"
"""Kind of a finding: a forbidden argument is accepted."""
_MAX_VALUE_LENGTH = 60
_UNCHECKED_NONE = re.compile(r"\bNoneType\b")


class DerivationOracle:
    """Oracle that judges the last derivation step of a program.

    It reports only what is the same on all targets. If only some targets accept a program, another
    oracle reports that difference.
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
    """A broken guarantee, described for a finding."""

    targets: tuple[str, ...]
    """Names of the targets that break the guarantee."""
    claim: str
    """Predicate of a sentence whose subject is the block's call."""
    evidence: Evidence


def _positive_violation(case: ProgramCase, outcomes: Mapping[str, Outcome]) -> _Violation | None:
    """Return how a program with a legal block fails.

    The result is None if the program runs on a target, or if the failure is the program's own
    fault.
    """
    rejections = {name: out for name, out in outcomes.items() if isinstance(out, Rejected)}
    runs_somewhere = any(isinstance(outcome, Passed) for outcome in outcomes.values())
    step = case.ancestry.path[-1]
    guarantee = _GUARANTEES.get(step.operator, _RUNS_IN_PROGRAMS)
    if not rejections or runs_somewhere or not all(map(guarantee.is_broken, rejections.values())):
        return None
    first = next(iter(rejections.values()))
    failure = locate_message(first.message)
    trigger = f"{first.exception}: {headline(failure.message)}"
    evidence = Evidence(
        expected=guarantee.expected,
        observed=f"line {failure.line} of the program raises {trigger}",
        law=guarantee.law,
        source=source_of(step),
    )
    return _Violation(tuple(rejections), f"{guarantee.claim}: {trigger}", evidence)


def _is_library_fault(refusal: Rejected) -> bool:
    """Return whether a program is rejected for another reason than incompatible parts."""
    return not locate_message(refusal.message).in_block and not is_incompatibility(refusal)


def _fails_outside_control(refusal: Rejected) -> bool:
    """Return whether a layer rejects one sample, but not the batch of the control program."""
    return not locate_message(refusal.message).in_block


def _fails_on_none(refusal: Rejected) -> bool:
    """Return whether a layer used None without a check.

    An exception that names the missing argument, in contrast, is correct.
    """
    failure = locate_message(refusal.message)
    return not failure.in_block and bool(_UNCHECKED_NONE.search(failure.message))


@dataclass(frozen=True, slots=True)
class _Guarantee:
    """A guarantee about programs without illegal arguments."""

    expected: str
    """Expected behaviour, for the finding's evidence."""
    law: str
    """The guarantee as a sentence."""
    claim: str
    """Predicate that describes a violation; its subject is the block's call."""
    is_broken: Callable[[Rejected], bool]
    """Function that returns whether a rejection breaks the guarantee."""


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
        "the layer runs, or the exception names the missing argument",
        "An argument whose default is None can be omitted",
        "fails on None, which is its default",
        _fails_on_none,
    ),
}


def _negative_violation(case: ProgramCase, outcomes: Mapping[str, Outcome]) -> _Violation | None:
    """Return how all targets accept a forbidden argument, in the block alone and in the program.

    The result is None if a target rejects it.
    """
    step = case.ancestry.path[-1]
    runs = [program_run(outcome) for outcome in outcomes.values()]
    if not runs or not step.sentence or any(run is None or run.block for run in runs):
        return None
    evidence = Evidence(
        expected=f"an exception about {step.parameter!r}",
        observed="the block runs alone, forwards and backwards, and the program trains with it",
        law=f"{step.parameter!r} is not {shortened(step.after, _MAX_VALUE_LENGTH)}",
        source=source_of(step),
    )
    claim = f"is accepted, alone and in a program, against {source_of(step)}"
    return _Violation(tuple(outcomes), claim, evidence)


def _changing_step(case: ProgramCase) -> Derivation:
    """Return the step that changed the block.

    A last step that replaces the batch by one sample changes only the block's input.
    """
    *before, step = case.ancestry.path
    return before[-1] if before and step.operator is Operator.UNBATCHED else step


def _describe_step(step: Derivation, api: str) -> str:
    """Return the block's API and the change, as the subject of a sentence."""
    before, after = (shortened(text, _MAX_VALUE_LENGTH) for text in (step.before, step.after))
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
