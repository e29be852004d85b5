"""A refusal that states a requirement for an argument shows a check that another version lacks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaign_examples import ONE, TWO, difference, group, member

from ciguard.campaign.argument_checks import added_check
from ciguard.campaign.rating import Rater
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.policy import FindingClass, class_of
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import Constant, ListValue, LiteralValue, TensorValue, Value

RECORD = ApiRecord(
    api="lib.Dropout",
    kind=CallKind.LAYER,
    parameters=(
        ParameterRecord(name="rate", doc="Share of elements that become 0."),
        ParameterRecord(name="seed", required=False, default="None", doc="An integer or 'auto'."),
    ),
    source="signature",
)


def refusal(
    message: str, seed: Value, *, rate: float = 0.5, exception: str = "ValueError"
) -> Finding:
    case = ApiCall(
        api=RECORD.api,
        kind=CallKind.LAYER,
        arguments=(LiteralValue(rate),),
        keywords=(("seed", seed),),
    )
    return replace(
        difference(),
        kind="refused",
        severity=Severity.MEDIUM,
        api=RECORD.api,
        case=case,
        pair=PairKind.VERSION,
        outcomes={ONE: Passed(b'["i","1"]', 0.1), TWO: Rejected(exception, message)},
    )


def rate_of(rate: float | None) -> ApiCall:
    return ApiCall(api=RECORD.api, kind=CallKind.LAYER, arguments=(LiteralValue(rate),))


EMPTY = ListValue(())
TENSOR = TensorValue("float32", (2,), Constant(1))
MISUSE = "'<=' not supported between instances of 'int' and 'NoneType'"
CHECK = "Argument `seed` must be an integer. Received: seed=[]"


@pytest.mark.parametrize(
    ("finding", "checked"),
    [
        (refusal(CHECK, EMPTY), "seed"),
        (refusal("Invalid value for argument seed: -1", LiteralValue(-1)), "seed"),
        (refusal("seed=5 is not supported", LiteralValue(5)), "seed"),
        (refusal(CHECK, LiteralValue("auto")), ""),
        (refusal(CHECK, LiteralValue(None)), ""),
        (refusal(CHECK, TENSOR), "seed"),
        (refusal("`seed` must have rank 1", TENSOR), ""),
        (replace(refusal(MISUSE, EMPTY), case=rate_of(None)), "rate"),
        (replace(refusal(MISUSE, EMPTY), case=rate_of(0.5)), ""),
        (refusal("not implemented for 'Int'", EMPTY), ""),
        (refusal("the seed must be sown", EMPTY), ""),
        (refusal(CHECK, EMPTY, exception="NotImplementedError"), ""),
        (replace(refusal(CHECK, EMPTY), pair=PairKind.BACKEND), ""),
    ],
    ids=["type", "value", "assigned", "documented", "default", "no tensor", "rank", "no number",
         "number", "dtype", "prose", "class", "backend"],
)  # fmt: skip
def test_a_check_names_a_parameter_and_what_it_must_be(finding: Finding, checked: str) -> None:
    assert added_check(finding, [RECORD])[0] == checked


def rater() -> Rater:
    tested = group(member(ONE), member(TWO))
    for one in tested.members.values():
        one.catalogue = {RECORD.api: RECORD}
    return Rater({"planted": tested})


def test_a_refusal_by_an_added_check_is_no_regression() -> None:
    rated = rater().rated(refusal(CHECK, EMPTY))

    assert (rated.severity, class_of(rated)) == (Severity.LOW, FindingClass.CHANGE)
    assert rated.evidence.law == "A version that accepts this 'seed' lacks a check"
    assert CHECK in rated.evidence.source


def test_a_refusal_of_what_convention_forbids_is_no_regression() -> None:
    rated = rater().rated(refusal("bad probability", LiteralValue(1), rate=1.5))

    assert (rated.severity, class_of(rated)) == (Severity.LOW, FindingClass.CHANGE)
    assert rated.evidence.law == "'rate' is in [0, 1], and here 1.5"
    assert rated.evidence.source.startswith("convention: ")


def test_a_refusal_of_a_legal_call_is_a_regression() -> None:
    finding = refusal("not implemented for 'Int'", LiteralValue(1))

    rated = rater().rated(finding)

    assert (rated.severity, class_of(rated)) == (Severity.MEDIUM, FindingClass.REGRESSION)
