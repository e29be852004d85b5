"""Findings of annotated functions: whose they are, how grave, and under which fingerprint."""

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


def found(old: Outcome, new: Outcome, case: FunctionCase = CASE) -> list[tuple[str, ...]]:
    findings = judge(case, {OLD: old, NEW: new}, SUBJECT)
    return [(f.oracle, f.kind, f.pair.value, *f.targets) for f in findings]


def test_what_fails_everywhere_is_the_programs_own() -> None:
    (finding,) = judge(CASE, {OLD: FAILED, NEW: FAILED}, SUBJECT)

    assert (finding.oracle, finding.kind, finding.targets) == (FUNCTION, "exception", (OLD, NEW))
    assert finding.pair is PairKind.NONE
    assert finding.severity is Severity.HIGH
    assert class_of(finding) is FindingClass.FUNCTION
    assert finding.message == "src/m.py:f fails: ValueError: 3 is too small (src/m.py, line 23)"


@pytest.mark.parametrize(("old", "new"), [(PASSED, FAILED), (FAILED, PASSED)])
def test_what_fails_on_one_target_alone_names_the_pair(old: Outcome, new: Outcome) -> None:
    (finding,) = judge(CASE, {OLD: old, NEW: new}, SUBJECT)

    reference, deviating = (OLD, NEW) if new is FAILED else (NEW, OLD)
    assert finding.targets == (reference, deviating)
    assert finding.pair is PairKind.VERSION
    assert class_of(finding) is FindingClass.REGRESSION
    assert f"fails on {deviating}, not on {reference}" in finding.message


def test_a_documented_exception_on_the_other_target_makes_a_pair_too() -> None:
    declared = Rejected("KeyError", "declared")

    assert found(declared, FAILED) == [(FUNCTION, "exception", "version", OLD, NEW)]


def test_a_call_that_was_not_made_says_nothing() -> None:
    assert found(DISCARDED, DISCARDED) == []
    assert found(PASSED, DISCARDED) == []
    assert found(DISCARDED, FAILED) == [(FUNCTION, "exception", "", NEW)]


@pytest.mark.parametrize(
    ("name", "kind"), [("@ensure", "ensure"), ("NaN", "nan"), ("@timeout", "timeout")]
)
def test_what_is_no_exception_has_a_kind_of_its_own(name: str, kind: str) -> None:
    outcome = replace(FAILED, exception=name)

    assert found(outcome, outcome) == [(FUNCTION, kind, "", OLD, NEW)]


def test_an_import_that_fails_on_one_version_is_told_as_such() -> None:
    case = FunctionCase(api="src/m.py", file="src/m.py")

    assert found(PASSED, FAILED, case) == [(FUNCTION, "import", "version", OLD, NEW)]


def test_changed_arguments_are_named_and_matter_little() -> None:
    changed = Passed(b'["E",[1],[],["i","3"]]', 0.1)

    (finding,) = judge(CASE, {OLD: changed, NEW: changed}, SUBJECT)

    assert (finding.kind, finding.severity) == ("mutation", Severity.LOW)
    assert finding.message == "src/m.py:f changes its arguments: y"


def test_results_that_differ_are_a_difference() -> None:
    other = Passed(b'["i","4"]', 0.1)

    assert found(PASSED, other) == [("differential", "values", "version", OLD, NEW)]


def test_two_classes_of_exceptions_are_two_findings() -> None:
    other = replace(FAILED, exception="TypeError")

    assert [f[3:] for f in found(FAILED, other)] == [(OLD,), (NEW,)]


def test_a_fingerprint_knows_neither_lines_nor_values() -> None:
    moved = replace(FAILED, message="src/m.py:29: 5 is too small")
    elsewhere = replace(FAILED, stack=(Frame("src/m.py", "h"), *FAILED.stack))
    keys = [
        fingerprint(judge(CASE, {OLD: out, NEW: out}, SUBJECT)[0]).key
        for out in (FAILED, moved, elsewhere, replace(FAILED, exception="KeyError"))
    ]

    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
