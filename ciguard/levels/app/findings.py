"""Application: what an application makes of what cognitive services answer (Keeper, section 4.1).

What exploring, reading and trying an application has come to is confirmed there already: a failure
recurs in a new process between answers that do not fail. `ApplicationOracle` judges one call that
is made again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
from ciguard.domain.function_calls import function_api, locate_failure
from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung, Passed, status
from ciguard.levels.app.dead_conditions import DeadConditionCause
from ciguard.levels.app.exploration import CALL_LIMIT_S
from ciguard.oracles import Traits, headline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.levels.app.accuracy import Assessed, ConditionVerdict
    from ciguard.levels.app.dead_conditions import Dead
    from ciguard.levels.app.exploration import Crash, ExploredFunction, StubResponse
    from ciguard.levels.app.static_analysis import ServiceFunction
    from ciguard.oracles import Subject

APPLICATION = "application"
CONTRADICTION = "contradiction"
CRASH = "crash"
UNKNOWN_LABEL = "unknown-label"
_OF_CAUSES = {
    DeadConditionCause.NO_LABEL: UNKNOWN_LABEL,
    DeadConditionCause.CONTRADICTION: CONTRADICTION,
}
"""Kinds of dead conditions that take labels, or a solver, to be found."""
SEVERITIES = {
    "crash": Severity.HIGH,
    "hang": Severity.HIGH,
    "accuracy": Severity.MEDIUM,
    "dead-condition": Severity.MEDIUM,
    CONTRADICTION: Severity.MEDIUM,
    UNKNOWN_LABEL: Severity.MEDIUM,
    "unguarded": Severity.LOW,
    "accuracy-here": Severity.LOW,
}
_LAWS = {
    "crash": "An application takes whatever its services may answer",
    "hang": "A function returns whatever its services answer",
    "accuracy": "A branch is taken for most of the inputs that it is meant for",
    "dead-condition": "A condition depends on what the service answers",
    CONTRADICTION: "A condition can be true, and can be false, where it is looked at",
    UNKNOWN_LABEL: "A label that is compared with is one that the service can answer",
    "unguarded": "An application expects that a service refuses what it is asked about",
    "accuracy-here": "A branch is taken for most of the inputs that it is meant for",
}
ANY_INPUT = "any input"
"""In the place of a sub-condition, where an input makes a function fail."""
_FOLDER = re.compile(r"/\S*/ciguard-app-\w+")
"""Where the files of a call were."""
_EXPECTED = "a result, or an exception that the application raises itself"
_SOURCE = "Keeper, section 4.1"


class ApplicationOracle:
    """Looks at a call with answers that was made again."""

    traits: ClassVar[Traits] = Traits(
        tests_user_functions=True,
        ignores_library=True,  # it is the same, whichever client its target is known by
        claim="{kind}.",
        claims={
            "crash": "an application fails on what a service may answer.",
            "hang": "an application does not return on what a service may answer.",
            "unguarded": "an application lets through that a service refuses what it is asked "
            "about.",
        },
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return a finding for each target on which the call does not return."""
        if not isinstance(case, AppCase) or case.aspect is not Aspect.ANSWER:
            return []
        failed = {
            name: outcome
            for name, outcome in outcomes.items()
            if isinstance(outcome, Errored | Hung | Crashed)
        }
        return [
            _finding(
                _kind(case, outcome),
                Applied(root=case.root, library=subject.library, target=name),
                case,
                outcome,
                detail=f"{outcome.stack[0].file}:{outcome.stack[0].function}"
                if outcome.stack
                else "",
                says=_said(outcome),
                evidence=(_EXPECTED, _said(outcome)),
            )
            for name, outcome in failed.items()
        ]


def _said(outcome: Outcome) -> str:
    if not isinstance(outcome, Errored):
        return status(outcome)
    return f"{outcome.exception}: {headline(locate_failure(outcome.message).message)}"


def _kind(case: AppCase, outcome: Outcome) -> str:
    if not isinstance(outcome, Errored):
        return "hang"
    is_refused = bool(case.call and case.call.get("refused"))
    return "unguarded" if is_refused else "crash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """An application on a target."""

    root: str
    """Its folder, relative to the one that the run was started in."""
    library: str
    """The provider's client that the target is known by."""
    target: str

    def path(self, file: str) -> str:
        """Return the path of one of its files as reports name it."""
        return file if self.root == "." else f"{self.root}/{file}"

    def api(self, found: ServiceFunction) -> str:
        """Return the name by which reports call a function."""
        return function_api(self.path(found.file), found.name)


def of_answers(
    explored: ExploredFunction, at: Applied, call: Callable[[Sequence[StubResponse]], Json]
) -> Iterator[Finding]:
    """Yield what some answers bring about and others do not.

    Args:
        explored: the function, called with made answers.
        at: where it was.
        call: returns all that it takes to call it again with such answers.
    """
    found = explored.found
    for crash in explored.crashes:
        case = _case(found, at, Aspect.ANSWER, call(crash.answers))
        yield _failure("crash", crash, at, case)
    for crash in explored.unguarded.values():
        case = _case(found, at, Aspect.ANSWER, call(crash.answers))
        yield _failure("unguarded", crash, at, case)
    for hang in explored.hangs:
        outcome: Outcome = Hung(CALL_LIMIT_S)
        if hang.instead != "does not end":
            outcome = Crashed("exit")
        yield _finding(
            "hang",
            at,
            _case(found, at, Aspect.ANSWER, call(hang.answers)),
            outcome,
            detail=hang.instead,
            says=f"{hang.instead} when {'; '.join(hang.titles)}",
            evidence=("it returns", hang.instead),
        )


def _failure(kind: str, crash: Crash, at: Applied, case: AppCase, with_what: str = "") -> Finding:
    with_what = with_what or f"when {'; '.join(crash.titles)}"
    error = _FOLDER.sub("{folder}", crash.error)
    exception, _, message = error.partition(": ")
    path = at.path(crash.file)
    return _finding(
        kind,
        at,
        case,
        Errored(exception, f"{path}:{crash.line}: {message}", (Frame(path, crash.function),)),
        detail=f"{path}:{crash.function}",
        says=f"{headline(error)} {with_what}",
        evidence=(_EXPECTED, error),
    )


def of_difference(  # noqa: PLR0913 - what failed, where, and what it is held against
    crash: Crash, found: ServiceFunction, at: Applied, call: Json, *, reference: str, pair: PairKind
) -> Finding:
    """Return the finding that a function fails whatever is answered, and elsewhere does not.

    Args:
        crash: what it fails with.
        found: the function.
        at: where it fails.
        call: with which it returns elsewhere.
        reference: target on which it does.
        pair: in what the targets differ.
    """
    case = _case(found, at, Aspect.ANSWER, call)
    failed = _failure("crash", crash, at, case, f"whatever is answered, not on {reference}")
    return replace(
        failed,
        targets=(reference, at.target),
        outcomes={reference: Passed(b"{}", 0.0), **failed.outcomes},
        pair=pair,
    )


def of_conditions(
    dead: Iterable[tuple[Dead, Sequence[ServiceFunction]]], at: Applied
) -> Iterator[Finding]:
    """Yield sub-conditions that no answer changes.

    Args:
        dead: with the functions that reach each.
        at: where they are.
    """
    for one, reached in dead:
        found = _around(reached, one.branch.file, one.branch.line)
        yield _finding(
            _OF_CAUSES.get(one.cause, "dead-condition"),
            at,
            AppCase(
                api=at.api(found),
                file=at.path(one.branch.file),
                line=one.branch.line,
                root=at.root,
                aspect=Aspect.CONDITION,
                condition=condition_words(one.text, one.branch.condition),
            ),
            _passed({"reason": one.reason, "proposals": list(one.proposals)}),
            detail=condition_words(one.text, one.branch.condition),
            says=f"{one.text}: {one.reason}",
            evidence=(
                f"perhaps {' or '.join(one.proposals)}" if one.proposals else "another condition",
                one.reason,
            ),
        )


def of_inputs(
    assessed: Assessed, at: Applied, beside: Sequence[ServiceFunction]
) -> Iterator[Finding]:
    """Yield sub-conditions that too few of their inputs make true, and inputs that fail.

    Args:
        assessed: the function, tried on inputs.
        beside: the application's functions, one of which the sub-condition stands in.
        at: where it was.
    """
    found = assessed.explored.found
    for verdict in assessed.verdicts:
        # What answers that are made up lead to is for who asks `ciguard app accuracy` about it.
        if verdict.is_failure and not verdict.is_simulated:
            goal = verdict.goal
            around = _around((found, *beside), goal.branch.file, goal.branch.line)
            yield _accuracy(verdict, around, at)
    for crash, tried in assessed.crashes:
        case = replace(_case(found, at, Aspect.INPUTS, None), condition=ANY_INPUT)
        yield _failure("crash", crash, at, case, f"with {tried.shown().wanted}")


def kind_of(verdict: ConditionVerdict) -> str:
    """Return the kind of what too few inputs make true: as the service answers, or an engine."""
    return "accuracy" if verdict.is_of_service else "accuracy-here"


def _accuracy(verdict: ConditionVerdict, found: ServiceFunction, at: Applied) -> Finding:
    goal = verdict.goal
    condition = condition_words(goal.text, goal.branch.condition)
    helps = verdict.suggestion.sentence if verdict.suggestion is not None else ""
    said = {"claim": verdict.claim, "engine": verdict.engine, "suggestion": helps}
    return _finding(
        kind_of(verdict),
        at,
        AppCase(
            api=at.api(found),
            file=at.path(goal.branch.file),
            line=goal.line,
            root=at.root,
            aspect=Aspect.INPUTS,
            condition=condition,
        ),
        _passed(said),
        detail=condition,
        says=f"{goal.text}: {verdict.claim}, answered by {verdict.engine}",
        evidence=(helps or "most of the inputs made for it make it true", verdict.claim),
    )


def _finding(  # noqa: PLR0913 - one for each thing that tells findings apart
    kind: str,
    at: Applied,
    case: AppCase,
    outcome: Outcome,
    *,
    detail: str,
    says: str,
    evidence: tuple[str, str],
) -> Finding:
    expected, observed = evidence
    return Finding(
        oracle=APPLICATION,
        kind=kind,
        severity=SEVERITIES[kind],
        library=at.library,
        api=case.api,
        case=case,
        outcomes={at.target: outcome},
        targets=(at.target,),
        detail=detail,
        message=f"{case.api}: {says}",
        evidence=Evidence(expected=expected, observed=observed, law=_LAWS[kind], source=_SOURCE),
    )


def _case(found: ServiceFunction, at: Applied, aspect: Aspect, call: Json) -> AppCase:
    return AppCase(
        api=at.api(found),
        file=at.path(found.file),
        line=found.line,
        root=at.root,
        aspect=aspect,
        call=call,
    )


def condition_words(text: str, whole: str) -> str:
    """Return how findings name a sub-condition, and the condition that it is in."""
    return text if text == whole else f"{text} in {whole}"


def _around(reached: Sequence[ServiceFunction], file: str, line: int) -> ServiceFunction:
    """Return the function that a line stands in, else the first that reaches it."""
    before = [one for one in reached if one.file == file and one.line <= line]
    return max(before, key=lambda one: one.line, default=reached[0])


def _passed(said: dict[str, Json]) -> Passed:
    return Passed(json.dumps(said, ensure_ascii=False).encode(), 0.0)
