"""Findings on annotated functions: target, severity and fingerprint."""

from __future__ import annotations

from dataclasses import replace

import pytest
from outcome_examples import NEW, OLD, identity

from ciguard.domain.findings import PairKind, Severity
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.outcomes import Errored, Frame, Outcome, Passed, Rejected, Stage
from ciguard.domain.policy import FindingClass, class_of
from ciguard.levels.function.oracle import FUNCTION
from ciguard.oracles import Subject, judge
from ciguard.triage import fingerprint

CALL = {"function": "f", "arguments": [["x", 3], ["y", 4]], "constructor": None, "outer": None}
CASE = FunctionCase(api="src/m.py:f", file="src/m.py", call=CALL)
SUBJECT = Subject(
    library="torch", api=CASE.api, targets={name: identity(name) for name in (OLD, NEW)}
)
FAILED = Errored(
    "ValueError", "src/m.py:23: 3 is too small", (Frame("src/m.py", "g"), Frame("src/m.py", "f"))
)
PASSED = Passed(b'["i","3"]', 0.1)
DISCARDED = Rejected("discarded", "x > 4", Stage.BUILD)


def findings_of(old: Outcome, new: Outcome, case: FunctionCase = CASE) -> list[tuple[str, ...]]:
    findings = judge(case, {OLD: old, NEW: new}, SUBJECT)
    return [
        (finding.oracle, finding.kind, finding.pair.value, *finding.targets) for finding in findings
    ]


def test_a_failure_on_all_targets_is_a_defect_of_the_program() -> None:
    (finding,) = judge(CASE, {OLD: FAILED, NEW: FAILED}, SUBJECT)

    assert (finding.oracle, finding.kind, finding.targets) == (FUNCTION, "exception", (OLD, NEW))
    assert finding.pair is PairKind.NONE
    assert finding.severity is Severity.HIGH
    assert class_of(finding) is FindingClass.FUNCTION
    assert finding.message == "src/m.py:f fails: ValueError: 3 is too small (src/m.py, line 23)"


@pytest.mark.parametrize(("old", "new"), [(PASSED, FAILED), (FAILED, PASSED)])
def test_a_failure_on_one_target_is_reported_as_a_pair(old: Outcome, new: Outcome) -> None:
    (finding,) = judge(CASE, {OLD: old, NEW: new}, SUBJECT)

    reference, deviating = (OLD, NEW) if new is FAILED else (NEW, OLD)
    assert finding.targets == (reference, deviating)
    assert finding.pair is PairKind.VERSION
    assert class_of(finding) is FindingClass.REGRESSION
    assert f"fails on {deviating}, not on {reference}" in finding.message


def test_a_failure_beside_a_documented_exception_is_reported_as_a_pair() -> None:
    declared = Rejected("KeyError", "declared")

    assert findings_of(declared, FAILED) == [(FUNCTION, "exception", "version", OLD, NEW)]


def test_a_call_that_was_not_made_gives_no_finding() -> None:
    assert findings_of(DISCARDED, DISCARDED) == []
    assert findings_of(PASSED, DISCARDED) == []
    assert findings_of(DISCARDED, FAILED) == [(FUNCTION, "exception", "", NEW)]


@pytest.mark.parametrize(
    ("name", "kind"), [("@ensure", "ensure"), ("NaN", "nan"), ("@timeout", "timeout")]
)
def test_failures_without_exception_have_separate_kinds(name: str, kind: str) -> None:
    outcome = replace(FAILED, exception=name)

    assert findings_of(outcome, outcome) == [(FUNCTION, kind, "", OLD, NEW)]


def test_an_import_that_fails_on_one_version_has_kind_import() -> None:
    case = FunctionCase(api="src/m.py", file="src/m.py")

    assert findings_of(PASSED, FAILED, case) == [(FUNCTION, "import", "version", OLD, NEW)]


def test_changed_arguments_are_named_with_low_severity() -> None:
    changed = Passed(b'["E",[1],[],["i","3"]]', 0.1)

    (finding,) = judge(CASE, {OLD: changed, NEW: changed}, SUBJECT)

    assert (finding.kind, finding.severity) == ("mutation", Severity.LOW)
    assert finding.message == "src/m.py:f changes its arguments: y"


def test_different_results_are_a_differential_finding() -> None:
    other = Passed(b'["i","4"]', 0.1)

    assert findings_of(PASSED, other) == [("differential", "values", "version", OLD, NEW)]


def test_two_classes_of_exceptions_are_two_findings() -> None:
    other = replace(FAILED, exception="TypeError")

    assert [finding[3:] for finding in findings_of(FAILED, other)] == [(OLD,), (NEW,)]


def test_a_fingerprint_is_independent_of_lines_and_values() -> None:
    moved = replace(FAILED, message="src/m.py:29: 5 is too small")
    elsewhere = replace(FAILED, stack=(Frame("src/m.py", "h"), *FAILED.stack))
    keys = [
        fingerprint(judge(CASE, {OLD: outcome, NEW: outcome}, SUBJECT)[0]).key
        for outcome in (FAILED, moved, elsewhere, replace(FAILED, exception="KeyError"))
    ]

    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_failures_of_a_line_with_other_names_and_values_have_one_fingerprint() -> None:
    frames = (Frame("src/m.py", "g", "raise ValueError(name)"), Frame("src/m.py", "f", "g(x)"))
    failed = replace(FAILED, stack=frames)
    other_line = (Frame("src/m.py", "g", "return table[name]"), *frames[1:])
    keys = [
        fingerprint(judge(CASE, {OLD: outcome, NEW: outcome}, SUBJECT)[0]).key
        for outcome in (
            failed,
            replace(failed, message="src/m.py:23: layer 'conv2d_up' gets 'same' and no 'valid'"),
            replace(failed, stack=other_line),
            replace(failed, exception="KeyError"),
        )
    ]

    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
