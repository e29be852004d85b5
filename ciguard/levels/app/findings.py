"""Findings about applications of cognitive services (Keeper paper, section 4.1).

Exploration and assessment have already confirmed their failures: in a new process, a crash recurs
between calls with answers that do not fail. `ApplicationOracle` judges one repeated call.
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
    from ciguard.levels.app.accuracy import Assessment, ConditionVerdict
    from ciguard.levels.app.dead_conditions import DeadCondition
    from ciguard.levels.app.exploration import Crash, ExploredFunction, StubResponse
    from ciguard.levels.app.static_analysis import ServiceFunction
    from ciguard.oracles import Subject

APPLICATION = "application"
CONTRADICTION = "contradiction"
CRASH = "crash"
UNKNOWN_LABEL = "unknown-label"
_KINDS_BY_CAUSE = {
    DeadConditionCause.UNKNOWN_LABEL: UNKNOWN_LABEL,
    DeadConditionCause.CONTRADICTION: CONTRADICTION,
}
"""Cause of a dead condition → kind of its finding, where labels or a solver are needed."""
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
_SPECIFICATIONS = {
    "crash": "An application handles every answer that its services may return",
    "hang": "A function returns for every answer of its services",
    "accuracy": "A branch is taken for most of the inputs that should take it",
    "dead-condition": "A condition depends on the answer of the service",
    CONTRADICTION: "A condition can be true and can be false at its position",
    UNKNOWN_LABEL: "A condition compares with labels that the service can return",
    "unguarded": "An application handles the refusal of a request by a service",
    "accuracy-here": "A branch is taken for most of the inputs that should take it",
}
ANY_INPUT = "any input"
"""Placeholder for the sub-condition in findings about inputs that crash a function."""
_FOLDER = re.compile(r"/\S*/(?:ciguard-app-\w+|ciguard-host-\w+/home/inputs)")
"""Temporary folder with the files of a call."""
_EXPECTED = "a result, or an exception that the application raises on purpose"
_SOURCE = "Keeper, section 4.1"


class ApplicationOracle:
    """Judge a repeated call with stub responses."""

    traits: ClassVar[Traits] = Traits(
        tests_user_functions=True,
        ignores_library=True,  # a defect occurs with every client of a target
        claim="{kind}.",
        claims={
            "crash": "an application crashes for an answer that a service may return.",
            "hang": "an application does not return for an answer that a service may return.",
            "unguarded": "an application does not handle the refusal of a request by a service.",
        },
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return a finding for each target on which the call raises or does not return."""
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
                TargetedApplication(root=case.root, library=subject.library, target=name),
                case,
                outcome,
                detail=f"{outcome.stack[0].file}:{outcome.stack[0].function}"
                if outcome.stack
                else "",
                claim=_outcome_text(outcome),
                evidence=(_EXPECTED, _outcome_text(outcome)),
            )
            for name, outcome in failed.items()
        ]


def _outcome_text(outcome: Outcome) -> str:
    if not isinstance(outcome, Errored):
        return status(outcome)
    return f"{outcome.exception}: {headline(locate_failure(outcome.message).message)}"


def _kind(case: AppCase, outcome: Outcome) -> str:
    if not isinstance(outcome, Errored):
        return "hang"
    is_refused = bool(case.call and case.call.get("refused"))
    return "unguarded" if is_refused else "crash"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetedApplication:
    """An application on a target."""

    root: str
    """Folder of the application, relative to the folder in which the run started."""
    library: str
    """Library of the target: the client of a provider."""
    target: str
    """Name of the target."""

    def path(self, file: str) -> str:
        """Return the path of a file of the application in reports."""
        return file if self.root == "." else f"{self.root}/{file}"

    def api(self, function: ServiceFunction) -> str:
        """Return the name of a function in reports."""
        return function_api(self.path(function.file), function.name)


def answer_findings(
    explored: ExploredFunction,
    targeted: TargetedApplication,
    call: Callable[[Sequence[StubResponse]], Json],
) -> Iterator[Finding]:
    """Yield findings about failures that depend on the services' answers.

    Args:
        explored: the result of the function's exploration.
        targeted: the application on its target.
        call: returns the record of a call with given stub responses, by which it can be repeated.
    """
    function = explored.function
    for crash in explored.crashes:
        case = _case(function, targeted, Aspect.ANSWER, call(crash.answers))
        yield _failure_finding("crash", crash, targeted, case)
    for crash in explored.uncaught_refusals.values():
        case = _case(function, targeted, Aspect.ANSWER, call(crash.answers))
        yield _failure_finding("unguarded", crash, targeted, case)
    for hang in explored.hangs:
        outcome: Outcome = Hung(CALL_LIMIT_S)
        if hang.behaviour != "does not end":
            outcome = Crashed("exit")
        yield _finding(
            "hang",
            targeted,
            _case(function, targeted, Aspect.ANSWER, call(hang.answers)),
            outcome,
            detail=hang.behaviour,
            claim=f"{hang.behaviour} when {'; '.join(hang.titles)}",
            evidence=("the call returns", hang.behaviour),
        )


def _failure_finding(
    kind: str, crash: Crash, targeted: TargetedApplication, case: AppCase, circumstance: str = ""
) -> Finding:
    circumstance = circumstance or f"when {'; '.join(crash.titles)}"
    error = _FOLDER.sub("{folder}", crash.error)
    exception, _, message = error.partition(": ")
    path = targeted.path(crash.file)
    return _finding(
        kind,
        targeted,
        case,
        Errored(exception, f"{path}:{crash.line}: {message}", (Frame(path, crash.function),)),
        detail=f"{path}:{crash.function}",
        claim=f"{headline(error)} {circumstance}",
        evidence=(_EXPECTED, error),
    )


def difference_finding(  # noqa: PLR0913 - the crash, its call, and the reference
    crash: Crash,
    function: ServiceFunction,
    targeted: TargetedApplication,
    call: Json,
    *,
    reference: str,
    pair: PairKind,
) -> Finding:
    """Return the finding about a function that fails for every answer on one target only.

    Args:
        crash: the exception that the function raises.
        function: the function.
        targeted: the application on the failing target.
        call: a call that returns on the reference target.
        reference: the name of the reference target.
        pair: the kind of difference between the targets.
    """
    case = _case(function, targeted, Aspect.ANSWER, call)
    failure = _failure_finding(
        "crash", crash, targeted, case, f"for each tried answer, but not on {reference}"
    )
    return replace(
        failure,
        targets=(reference, targeted.target),
        outcomes={reference: Passed(b"{}", 0.0), **failure.outcomes},
        pair=pair,
    )


def condition_findings(
    dead_conditions: Iterable[tuple[DeadCondition, Sequence[ServiceFunction]]],
    targeted: TargetedApplication,
) -> Iterator[Finding]:
    """Yield findings about sub-conditions that no answer can change.

    Args:
        dead_conditions: the sub-conditions, each with the functions that reach it.
        targeted: the application on its target.
    """
    for condition, functions in dead_conditions:
        function = _enclosing_function(functions, condition.branch.file, condition.branch.line)
        yield _finding(
            _KINDS_BY_CAUSE.get(condition.cause, "dead-condition"),
            targeted,
            AppCase(
                api=targeted.api(function),
                file=targeted.path(condition.branch.file),
                line=condition.branch.line,
                root=targeted.root,
                aspect=Aspect.CONDITION,
                condition=condition_text(condition.text, condition.branch.condition),
            ),
            _passed({"reason": condition.reason, "proposals": list(condition.proposals)}),
            detail=condition_text(condition.text, condition.branch.condition),
            claim=f"{condition.text}: {condition.reason}",
            evidence=(
                f"perhaps {' or '.join(condition.proposals)}"
                if condition.proposals
                else "a condition that an answer can change",
                condition.reason,
            ),
        )


def input_findings(
    assessment: Assessment, targeted: TargetedApplication, functions: Sequence[ServiceFunction]
) -> Iterator[Finding]:
    """Yield findings about inaccurate sub-conditions, and about inputs that crash the function.

    Args:
        assessment: the result of the function's assessment.
        targeted: the application on its target.
        functions: the application's functions, one of which contains the sub-condition.
    """
    function = assessment.explored.function
    for verdict in assessment.verdicts:
        # Results with simulated answers are only shown by `ciguard app accuracy`.
        if verdict.is_failure and not verdict.is_simulated:
            goal = verdict.goal
            enclosing = _enclosing_function(
                (function, *functions), goal.branch.file, goal.branch.line
            )
            yield _accuracy_finding(verdict, enclosing, targeted)
    for crash, service_input in assessment.crashes:
        case = replace(_case(function, targeted, Aspect.INPUTS, None), condition=ANY_INPUT)
        yield _failure_finding(
            "crash", crash, targeted, case, f"with {service_input.shown().wanted}"
        )


def kind_of(verdict: ConditionVerdict) -> str:
    """Return the kind of an accuracy finding: `accuracy-here` if a local engine answered."""
    return "accuracy" if verdict.is_of_service else "accuracy-here"


def _accuracy_finding(
    verdict: ConditionVerdict, function: ServiceFunction, targeted: TargetedApplication
) -> Finding:
    goal = verdict.goal
    condition = condition_text(goal.text, goal.branch.condition)
    suggestion = verdict.suggestion.sentence if verdict.suggestion is not None else ""
    details = {"claim": verdict.claim, "engine": verdict.engine, "suggestion": suggestion}
    return _finding(
        kind_of(verdict),
        targeted,
        AppCase(
            api=targeted.api(function),
            file=targeted.path(goal.branch.file),
            line=goal.line,
            root=targeted.root,
            aspect=Aspect.INPUTS,
            condition=condition,
        ),
        _passed(details),
        detail=condition,
        claim=f"{goal.text}: {verdict.claim}, answered by {verdict.engine}",
        evidence=(suggestion or "most inputs that should make it true do so", verdict.claim),
    )


def _finding(  # noqa: PLR0913 - one parameter for each part of a finding
    kind: str,
    targeted: TargetedApplication,
    case: AppCase,
    outcome: Outcome,
    *,
    detail: str,
    claim: str,
    evidence: tuple[str, str],
) -> Finding:
    expected, observed = evidence
    return Finding(
        oracle=APPLICATION,
        kind=kind,
        severity=SEVERITIES[kind],
        library=targeted.library,
        api=case.api,
        case=case,
        outcomes={targeted.target: outcome},
        targets=(targeted.target,),
        detail=detail,
        message=f"{case.api}: {claim}",
        evidence=Evidence(
            expected=expected, observed=observed, law=_SPECIFICATIONS[kind], source=_SOURCE
        ),
    )


def _case(
    function: ServiceFunction, targeted: TargetedApplication, aspect: Aspect, call: Json
) -> AppCase:
    return AppCase(
        api=targeted.api(function),
        file=targeted.path(function.file),
        line=function.line,
        root=targeted.root,
        aspect=aspect,
        call=call,
    )


def condition_text(text: str, condition: str) -> str:
    """Return the text of a sub-condition, followed by that of the whole condition if it differs."""
    return text if text == condition else f"{text} in {condition}"


def _enclosing_function(
    functions: Sequence[ServiceFunction], file: str, line: int
) -> ServiceFunction:
    """Return the function that contains a line; if there is none, the first that reaches it."""
    before = [function for function in functions if function.file == file and function.line <= line]
    return max(before, key=lambda function: function.line, default=functions[0])


def _passed(details: dict[str, Json]) -> Passed:
    return Passed(json.dumps(details, ensure_ascii=False).encode(), 0.0)
