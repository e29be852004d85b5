"""Derivation: a program does not keep what its last block promises (MoCo, section III-A3).

A block whose arguments are legal, and which runs alone, runs in a program too. A block whose
argument the documentation forbids is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.programs import Operator, ProgramCase, located
from ciguard.domain.text import shortened
from ciguard.levels.code.misfits import is_misfit
from ciguard.levels.code.program_runs import is_lacking, program_run
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
_STRAY_NONE = re.compile(r"\bNoneType\b")


class DerivationOracle:
    """Looks at the last step that a program was derived by, where all targets treat it alike.

    What one target runs and another refuses is a difference between targets: another oracle's.
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
                message=f"{_named(_changed(case), subject.api)} {found.claim}",
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
    step = case.ancestry.path[-1]
    promise = _PROMISES.get(step.operator, _IN_PROGRAMS)
    if not refused or runs_somewhere or not all(map(promise.is_broken, refused.values())):
        return None
    first = next(iter(refused.values()))
    said = located(first.message)
    trigger = f"{first.exception}: {headline(said.message)}"
    evidence = Evidence(
        expected=promise.expected,
        observed=f"line {said.line} of the program raises {trigger}",
        law=promise.law,
        source=_quoted(step),
    )
    return _Broken(tuple(refused), f"{promise.claim}: {trigger}", evidence)


def _fits(refusal: Rejected) -> bool:
    return not located(refusal.message).in_block and not is_misfit(refusal)


def _takes_a_batch(refusal: Rejected) -> bool:
    """Return whether a layer refuses one sample, and not the batch; nothing is there to misfit."""
    return not located(refusal.message).in_block


def _stumbles_over_none(refusal: Rejected) -> bool:
    """Return whether nobody looked at the default; who says what must be given has done so."""
    said = located(refusal.message)
    return not said.in_block and bool(_STRAY_NONE.search(said.message))


@dataclass(frozen=True, slots=True)
class _Promise:
    """What a positive program promises, and how it is said that it broke that."""

    expected: str
    law: str
    claim: str
    is_broken: Callable[[Rejected], bool]


_IN_PROGRAMS = _Promise(
    "the program runs, as its block does alone, forwards and backwards",
    "A block with legal arguments that runs alone runs in a program too",
    "runs alone but not in a program",
    _fits,
)
_PROMISES = {
    Operator.UNBATCHED: _Promise(
        "the layer runs on one sample, as it does on a batch",
        "A layer that takes a batch, and one sample by its documentation, runs on one",
        "runs on a batch but not on one sample",
        _takes_a_batch,
    ),
    Operator.OMITTED: _Promise(
        "the layer runs, or says what it must be given",
        "What is None by the signature can be left out",
        "stumbles over None, which is its default",
        _stumbles_over_none,
    ),
}


def _accepted(case: ProgramCase, outcomes: Mapping[str, Outcome]) -> _Broken | None:
    """Return how a forbidden argument is taken everywhere, by the block and by the program."""
    step = case.ancestry.path[-1]
    runs = [program_run(out) for out in outcomes.values()]
    if not runs or not step.sentence or any(run is None or run.block for run in runs):
        return None
    evidence = Evidence(
        expected=f"an exception about {step.parameter!r}",
        observed="the block runs alone, forwards and backwards, and the program trains with it",
        law=f"{step.parameter!r} is not {shortened(step.after, _MAX_VALUE)}",
        source=_quoted(step),
    )
    claim = f"is accepted, alone and in a program, against {_quoted(step)}"
    return _Broken(tuple(outcomes), claim, evidence)


def _quoted(step: Derivation) -> str:
    return f"the documentation: “{step.sentence}”" if step.sentence else ""


def _changed(case: ProgramCase) -> Derivation:
    """Return the step by which the block was changed: taking its batch away changes its input."""
    *before, step = case.ancestry.path
    return before[-1] if before and step.operator is Operator.UNBATCHED else step


def _named(step: Derivation, api: str) -> str:
    """Return what a block calls, and what was changed of it."""
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
