"""Boundary oracle: accepted arguments that the documentation forbids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from outcome_examples import NEW, OLD, case, passed, subject

from ciguard.domain.findings import Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Errored, Outcome, Passed, Rejected
from ciguard.domain.values import Constant, LiteralValue, TensorValue, Value
from ciguard.knowledge import ClueSource
from ciguard.oracles import judge
from ciguard.oracles.specifications import Specification, choice, interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.findings import Finding

X = TensorValue("float32", (2,), Constant(1))
P = Specification(
    parameter="p",
    position=1,
    requirement=interval(low=0.0, high=1.0),
    source=ClueSource.DOC_PHRASE,
    sentence="Float between 0 and 1",
)
BOTH = {OLD: passed(1.0, 2.0), NEW: passed(1.0, 2.0)}
ORDINARY = passed(1.0, 2.0)


def call_with(value: Value, *, focus: str = "p") -> ApiCall:
    return replace(case(X, value, intent=Intent.VIOLATING), focus=focus)


def findings_of(
    api_call: ApiCall, *specifications: Specification, outcomes: Mapping[str, Outcome] | None = None
) -> list[Finding]:
    tested = replace(subject(names=(OLD, NEW)), specifications={"p": specifications or (P,)})
    return [f for f in judge(api_call, outcomes or BOTH, tested) if f.oracle == "boundary"]


def test_a_forbidden_argument_that_every_target_accepts_is_a_finding() -> None:
    (finding,) = findings_of(call_with(LiteralValue(2.0)))

    assert (finding.kind, finding.detail) == ("accepted-illegal", "p: range")
    assert finding.severity is Severity.LOW
    assert finding.targets == (OLD, NEW)
    assert finding.message == (
        "torch.fold accepts 2.0 for 'p' and returns float32[2] (1, 2); "
        "the documentation says in [0, 1]: “Float between 0 and 1”"
    )


def test_a_keyword_argument_takes_precedence_over_the_position() -> None:
    named = replace(call_with(LiteralValue(0.5)), keywords=(("p", LiteralValue(7)),))

    assert "accepts 7 for 'p'" in findings_of(named)[0].message


@pytest.mark.parametrize(
    "api_call",
    [
        call_with(LiteralValue(0.5)),
        call_with(LiteralValue(2.0), focus="x"),
        replace(call_with(LiteralValue(2.0)), focus=""),
        replace(call_with(LiteralValue(2.0)), arguments=(X,)),
        replace(
            call_with(LiteralValue(2.0)),
            arguments=(TensorValue("float32", (0,), Constant(1)), LiteralValue(2.0)),
        ),
    ],
    ids=["lawful", "another focus", "no focus", "left out", "nothing to work on"],
)
def test_a_call_without_a_violation_at_its_focus_is_not_a_finding(api_call: ApiCall) -> None:
    assert findings_of(api_call) == []


@pytest.mark.parametrize(
    "other",
    [Rejected("ValueError", "p"), Errored("SystemError", "slot"), Rejected("TypeError", "")],
)
def test_a_rejection_on_one_target_is_left_to_another_oracle(other: Outcome) -> None:
    assert findings_of(call_with(LiteralValue(2.0)), outcomes={OLD: ORDINARY, NEW: other}) == []


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        (passed().encoded, "returns an empty result"),
        (passed(1.0, float("nan")).encoded, "returns NaN or infinity"),
        (b'["f","inf"]', "returns NaN or infinity"),
        (b'["i","12"]', "returns 12"),
        (b'["L","tuple",[["O","Thing"],["i","3"]],2]', "returns 3"),
    ],
)
def test_the_message_contains_the_consequence(encoded: bytes, text: str) -> None:
    (finding,) = findings_of(call_with(LiteralValue(2.0)), outcomes={OLD: Passed(encoded, 0.1)})

    assert f" and {text}; " in finding.message


@pytest.mark.parametrize("encoded", [b"null", b'["O","Dataset"]', b'["s","text"]', b"damaged"])
def test_a_result_without_numbers_is_not_a_finding(encoded: bytes) -> None:
    assert findings_of(call_with(LiteralValue(2.0)), outcomes={OLD: Passed(encoded, 0.1)}) == []


def test_nan_from_the_arguments_is_not_a_consequence() -> None:
    api_call = call_with(LiteralValue(float("-inf")))

    (finding,) = findings_of(api_call, outcomes={OLD: passed(float("nan"))})

    assert "returns float32[1] (nan)" in finding.message


def test_a_superseded_argument_is_not_judged() -> None:
    specification = replace(
        P, parameter="reduction", position=None, requirement=choice(("mean", "sum"))
    )
    keywords = (("reduction", LiteralValue("median")), ("size_average", LiteralValue(value=True)))
    api_call = replace(case(X, intent=Intent.VIOLATING), keywords=keywords, focus="reduction")
    tested = replace(subject(names=(OLD,)), specifications={"reduction": (specification,)})

    judged = judge(api_call, {OLD: ORDINARY}, tested)
    without = judge(replace(api_call, keywords=keywords[:1]), {OLD: ORDINARY}, tested)

    assert judged == []
    assert [finding.detail for finding in without] == ["reduction: member"]


def test_the_message_names_the_source_of_the_specification() -> None:
    (finding,) = findings_of(call_with(LiteralValue(2.0)), replace(P, source=ClueSource.OPDEF))

    assert "the operator's definition says in [0, 1]" in finding.message
