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
from ciguard.oracles.laws import Law, choice, interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.findings import Finding

X = TensorValue("float32", (2,), Constant(1))
P = Law(
    parameter="p",
    position=1,
    demand=interval(low=0.0, high=1.0),
    source=ClueSource.DOC_PHRASE,
    sentence="Float between 0 and 1",
)
BOTH = {OLD: passed(1.0, 2.0), NEW: passed(1.0, 2.0)}
ORDINARY = passed(1.0, 2.0)


def bent(value: Value, *, focus: str = "p") -> ApiCall:
    return replace(case(X, value, intent=Intent.VIOLATING), focus=focus)


def found(met: ApiCall, *laws: Law, outcomes: Mapping[str, Outcome] | None = None) -> list[Finding]:
    of = replace(subject(names=(OLD, NEW)), laws={"p": laws or (P,)})
    return [f for f in judge(met, outcomes or BOTH, of) if f.oracle == "boundary"]


def test_a_forbidden_argument_that_every_target_takes_is_found() -> None:
    (finding,) = found(bent(LiteralValue(2.0)))

    assert (finding.kind, finding.detail) == ("accepted-illegal", "p: range")
    assert finding.severity is Severity.LOW
    assert finding.targets == (OLD, NEW)
    assert finding.message == (
        "torch.fold accepts 2.0 for 'p' and returns float32[2] (1, 2); "
        "the documentation says in [0, 1]: “Float between 0 and 1”"
    )


def test_an_argument_by_name_counts_before_its_place() -> None:
    named = replace(bent(LiteralValue(0.5)), keywords=(("p", LiteralValue(7)),))

    assert "accepts 7 for 'p'" in found(named)[0].message


@pytest.mark.parametrize(
    "met",
    [
        bent(LiteralValue(0.5)),
        bent(LiteralValue(2.0), focus="x"),
        replace(bent(LiteralValue(2.0)), focus=""),
        replace(bent(LiteralValue(2.0)), arguments=(X,)),
        replace(
            bent(LiteralValue(2.0)),
            arguments=(TensorValue("float32", (0,), Constant(1)), LiteralValue(2.0)),
        ),
    ],
    ids=["lawful", "another focus", "no focus", "left out", "nothing to work on"],
)
def test_a_call_that_breaks_no_law_at_its_focus_is_left_alone(met: ApiCall) -> None:
    assert found(met) == []


@pytest.mark.parametrize(
    "other",
    [Rejected("ValueError", "p"), Errored("SystemError", "slot"), Rejected("TypeError", "")],
)
def test_what_one_target_does_not_take_is_another_oracles(other: Outcome) -> None:
    assert found(bent(LiteralValue(2.0)), outcomes={OLD: ORDINARY, NEW: other}) == []


@pytest.mark.parametrize(
    ("encoded", "says"),
    [
        (passed().encoded, "returns an empty result"),
        (passed(1.0, float("nan")).encoded, "returns NaN or infinity"),
        (b'["f","inf"]', "returns NaN or infinity"),
        (b'["i","12"]', "returns 12"),
        (b'["L","tuple",[["O","Thing"],["i","3"]],2]', "returns 3"),
    ],
)
def test_the_consequence_is_told(encoded: bytes, says: str) -> None:
    (finding,) = found(bent(LiteralValue(2.0)), outcomes={OLD: Passed(encoded, 0.1)})

    assert f" and {says}; " in finding.message


@pytest.mark.parametrize("encoded", [b"null", b'["O","Dataset"]', b'["s","text"]', b"damaged"])
def test_a_result_that_shows_nothing_computed_proves_nothing(encoded: bytes) -> None:
    assert found(bent(LiteralValue(2.0)), outcomes={OLD: Passed(encoded, 0.1)}) == []


def test_nan_that_was_put_in_is_no_consequence() -> None:
    met = bent(LiteralValue(float("-inf")))

    (finding,) = found(met, outcomes={OLD: passed(float("nan"))})

    assert "returns float32[1] (nan)" in finding.message


def test_an_argument_that_an_older_one_replaces_is_not_judged() -> None:
    law = replace(P, parameter="reduction", position=None, demand=choice(("mean", "sum")))
    keywords = (("reduction", LiteralValue("median")), ("size_average", LiteralValue(value=True)))
    met = replace(case(X, intent=Intent.VIOLATING), keywords=keywords, focus="reduction")
    of = replace(subject(names=(OLD,)), laws={"reduction": (law,)})

    judged = judge(met, {OLD: ORDINARY}, of)
    without = judge(replace(met, keywords=keywords[:1]), {OLD: ORDINARY}, of)

    assert judged == []
    assert [finding.detail for finding in without] == ["reduction: member"]


def test_the_source_of_a_law_is_named() -> None:
    (finding,) = found(bent(LiteralValue(2.0)), replace(P, source=ClueSource.OPDEF))

    assert "the operator's definition says in [0, 1]" in finding.message
