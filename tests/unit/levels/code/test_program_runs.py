"""Comparison of programs by outcome and by the forms of their variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from outcome_examples import NEW, OLD, subject
from program_examples import STEP, array, negative, positive, ran

from ciguard.domain.findings import Finding, Severity
from ciguard.domain.outcomes import Hung, Outcome, Passed, Rejected, Stage
from ciguard.levels.code.program_runs import program_run
from ciguard.oracles import judge

if TYPE_CHECKING:
    from ciguard.domain.programs import ProgramCase

REFUSED = Rejected("ValueError", "line 5: stride must be less than 3")


def findings_of(
    reference: Outcome, other: Outcome, case: ProgramCase | None = None
) -> list[Finding]:
    outcomes = {OLD: reference, NEW: other}
    return judge(case or positive(), outcomes, subject(names=(OLD, NEW)))


def test_values_are_not_compared() -> None:
    one = ran(loss=["f", "0.5"], epoch=["i", "3"], w=["D", "float32", [9000], {"sample": ""}])
    other = ran(loss=["f", "nan"], epoch=["i", "4"], w=array(9000))

    assert findings_of(one, other) == []


@pytest.mark.parametrize(
    ("outputs", "kind", "message"),
    [
        ({"loss": array(), "x": array(4)}, "structure", "loss is a float vs a tensor"),
        ({"loss": ["f", "1"], "x": array(4, dtype="float64")}, "dtype", "x is float32 vs float64"),
        ({"loss": ["f", "1"], "x": array(5)}, "shape", "x is [4] vs [5]"),
        ({"loss": ["f", "1"]}, "structure", "x is a tensor vs nothing"),
    ],
)
def test_structure_dtype_and_shape_of_variables_are_compared(
    outputs: dict[str, Any], kind: str, message: str
) -> None:
    (finding,) = findings_of(ran(loss=["f", "0.5"], x=array(4)), ran(**outputs))

    assert (finding.oracle, finding.kind) == ("differential", kind)
    assert finding.message.endswith(f"differs in {kind}: {message}")
    assert finding.severity is Severity.HIGH


def test_the_evidence_shows_both_forms() -> None:
    (finding,) = findings_of(ran(x=array(4)), ran(x=array(5)))

    assert finding.evidence.expected == f"{OLD}: x is [4]"
    assert finding.evidence.observed == f"{NEW}: x is [5]"
    assert finding.evidence.law == (
        "A program has the same outcome, shapes and types on all targets"
    )


def test_a_program_that_one_version_rejects_is_found() -> None:
    (finding,) = findings_of(ran(), REFUSED)

    assert (finding.kind, finding.severity) == ("refused", Severity.MEDIUM)
    assert finding.message.endswith("refused with ValueError: stride must be less than 3")
    assert finding.evidence.expected == f"{OLD}: runs to its end"
    assert "raises ValueError" in finding.evidence.observed


def test_a_rejection_of_a_forbidden_program_is_information() -> None:
    (refused,) = findings_of(ran(), REFUSED, negative())
    (accepted,) = findings_of(REFUSED, ran(), negative())

    assert (refused.kind, refused.severity) == ("refused", Severity.INFO)
    assert (accepted.kind, accepted.severity) == ("accepted", Severity.LOW)


@pytest.mark.parametrize(
    "other",
    [
        Rejected("ImportError", "line 2: cannot import name 'Muon' from 'torch.optim'"),
        Rejected("AttributeError", "line 2: module 'torch.nn' has no attribute 'RMSNorm'"),
        Rejected("TypeError", "line 2: __init__() got an unexpected keyword argument 'bias'"),
        Rejected("ValueError", "line 2: Unrecognized keyword arguments passed to Dense: {'x': 1}"),
        Rejected("NameError", "line 2: name 'nn' is not defined", Stage.BUILD),
    ],
)
def test_a_missing_api_is_no_difference(other: Outcome) -> None:
    assert findings_of(ran(), other) == []
    assert findings_of(other, ran()) == []


def test_another_exception_is_no_difference() -> None:
    assert (
        findings_of(REFUSED, Rejected("InvalidArgumentError", "line 9: the shape is wrong")) == []
    )


def test_a_hang_of_a_repeated_program_is_no_finding() -> None:
    assert findings_of(ran(), Hung(5.0), replace(positive(), cycles=12)) == []


def test_a_hang_is_no_difference() -> None:
    assert [finding.oracle for finding in findings_of(ran(), Hung(5.0))] == ["hang"]


@pytest.mark.parametrize(("after", "count"), [("3", 1), ("(1, 2e6)", 0), ("4294967296", 0)])
def test_a_hang_with_a_large_number_is_no_finding(after: str, count: int) -> None:
    outcomes = findings_of(Hung(5.0), Hung(5.0), positive(replace(STEP, after=after)))

    assert len(outcomes) == count


@pytest.mark.parametrize("encoded", [b"", b"null", b'["M","dict",[],0]', b'["s","x"]', b"[1]"])
def test_a_damaged_record_is_no_program_run(encoded: bytes) -> None:
    assert program_run(Passed(encoded, 0.1)) is None


def test_a_program_run_is_decoded() -> None:
    run = program_run(ran(block="ValueError", x=array(2)))

    assert run is not None
    assert run.block == "ValueError"
    assert list(run.outputs) == ["x"]
    assert run.memory == run.cpu_s == ()
