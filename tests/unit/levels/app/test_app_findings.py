"""Findings about applications, and the stability of their fingerprints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.findings import Finding, Severity, finding_from_json, finding_to_json
from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung, Outcome, Passed
from ciguard.domain.policy import FindingClass, class_of
from ciguard.levels.app.dead_conditions import DeadCondition, dead_conditions
from ciguard.levels.app.exploration import Crash, ExploredFunction, StubResponse
from ciguard.levels.app.findings import TargetedApplication, answer_findings, condition_findings
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import (
    ServiceFunction,
    find_service_functions,
    read_application,
)
from ciguard.oracles import Subject, judge
from ciguard.triage import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
from google.cloud import vision

client = vision.ImageAnnotatorClient()

def inner(image):
    labels = client.label_detection(image=image).label_annotations
    if labels[0].description == "dog" or "animal":
        return 1
    return 0

def outer(image):
    return inner(image)
"""
AT = TargetedApplication(root="src/app", library="google-cloud-vision", target="current")
CALL = {"module": "app", "function": "inner", "arguments": {}, "files": {}, "answers": {}}


@pytest.fixture
def functions(tmp_path: Path) -> tuple[ServiceFunction, ...]:
    (tmp_path / "app.py").write_text(SOURCE, "utf-8")
    return find_service_functions(read_application(tmp_path), known_providers())


def crash(
    function: ServiceFunction, *, line: int = 8, error: str = "IndexError: list index 4 out of 2"
) -> Crash:
    operation = function.calls[0].answer.operation
    answers = (StubResponse(operation, "nothing recognised", {}),)
    return Crash(error, "app.py", line, answers, "inner")


def found_by(explored: ExploredFunction) -> list[Finding]:
    return list(answer_findings(explored, AT, lambda _: CALL))


def test_crash_reports_its_line_but_its_fingerprint_ignores_the_line(
    functions: tuple[ServiceFunction, ...],
) -> None:
    inner = functions[0]
    (first,) = found_by(ExploredFunction(inner, crashes=[crash(inner)]))
    (moved,) = found_by(
        ExploredFunction(
            inner, crashes=[crash(inner, line=20, error="IndexError: list index 9 out of 3")]
        )
    )
    (other,) = found_by(ExploredFunction(inner, crashes=[crash(inner, error="KeyError: 'x'")]))

    assert (first.severity, class_of(first)) == (Severity.HIGH, FindingClass.APPLICATION)
    outcome = first.outcomes["current"]
    assert isinstance(outcome, Errored)
    assert outcome.message.startswith("src/app/app.py:8: ")
    assert fingerprint(first).key == fingerprint(moved).key
    assert fingerprint(first).key != fingerprint(other).key
    assert finding_from_json(finding_to_json(first)) == first


def test_dead_condition_is_reported_for_its_enclosing_function(
    functions: tuple[ServiceFunction, ...],
) -> None:
    reached: dict[DeadCondition, list[ServiceFunction]] = {}
    for function in reversed(functions):
        for dead in dead_conditions(function, None):
            reached.setdefault(dead, []).append(function)
    ((dead, _),) = reached.items()

    (finding,) = condition_findings([(dead, reached[dead])], AT)

    assert finding.api == "src/app/app.py:app.inner"
    assert isinstance(finding.case, AppCase)
    assert (finding.case.aspect, finding.case.line) == (Aspect.CONDITION, 8)
    assert "'animal' in labels[0].description == 'dog' or 'animal'" in finding.detail
    assert finding.severity is Severity.MEDIUM


CASE = AppCase(
    api="src/app/app.py:app.inner",
    file="src/app/app.py",
    root="src/app",
    aspect=Aspect.ANSWER,
    call=CALL,
)
REFUSED = {**CALL, "refused": True}


@pytest.mark.parametrize(
    ("case", "outcome", "kinds"),
    [
        (CASE, Errored("KeyError", "src/app/app.py:8: 'x'", (Frame("a.py", "f"),)), ["crash"]),
        (replace(CASE, call=REFUSED), Errored("Refused", "a.py:1: no"), ["unguarded"]),
        (CASE, Hung(20.0), ["hang"]),
        (CASE, Crashed("exit"), ["hang"]),
        (CASE, Passed(b"{}", 0.0), []),
        (replace(CASE, aspect=Aspect.CONDITION), Passed(b"{}", 0.0), []),
    ],
)
def test_repeated_call_gets_the_same_finding(
    case: AppCase, outcome: Outcome, kinds: list[str]
) -> None:
    subject = Subject(library="google-cloud-vision", api=CASE.api, targets={})

    found = judge(case, {"current": outcome}, subject)

    assert [function.kind for function in found if function.oracle == "application"] == kinds


def test_repeated_crash_has_the_same_fingerprint(
    functions: tuple[ServiceFunction, ...],
) -> None:
    inner = functions[0]
    (first,) = found_by(ExploredFunction(inner, crashes=[crash(inner)]))
    subject = Subject(library=AT.library, api=first.api, targets={})

    (again,) = (
        finding
        for finding in judge(first.case, first.outcomes, subject)
        if finding.oracle == "application"
    )

    assert fingerprint(again).key == fingerprint(first).key
