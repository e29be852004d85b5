"""Rating of findings by the documentation, except for crashes and hangs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaign_examples import ONE, TWO, crash, difference, group, member

from ciguard.campaign.rating import Rater
from ciguard.domain.api_calls import ApiCall, CallKind, as_call
from ciguard.domain.findings import Finding, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Errored, Outcome, Passed, Rejected
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import Constant, DtypeValue, ListValue, LiteralValue, TensorValue, Value
from ciguard.reports.wording import evidence_rows

API = "planted.tail"
RECORD = ApiRecord(
    api=API,
    kind=CallKind.FUNCTION,
    parameters=(
        ParameterRecord(name="count", doc="A number > 0. How many items are taken."),
        ParameterRecord(name="rest", required=False),
        ParameterRecord(name="how", annotation="str", required=False),
    ),
    source="signature",
)


def rater() -> Rater:
    tested = group(member(ONE), member(TWO))
    for one in tested.members.values():
        one.catalogue = {API: RECORD}
    return Rater({"planted": tested})


def with_argument(finding: Finding, argument: int) -> Finding:
    case = ApiCall(api=API, kind=CallKind.FUNCTION, arguments=(LiteralValue(argument),))
    return replace(finding, api=API, case=case)


def test_a_difference_of_a_conforming_call_keeps_its_severity() -> None:
    finding = with_argument(difference(), 3)

    assert rater().rated(finding) == finding


def test_a_difference_of_a_violating_call_is_informative() -> None:
    rated = rater().rated(with_argument(difference(), -3))

    assert rated.severity is Severity.INFO
    assert rated.evidence.breach.startswith("count is -3, which the documentation forbids: ")
    assert ("Call", f"not as documented: {rated.evidence.breach}") in evidence_rows(rated.evidence)


def test_a_crash_counts_with_any_arguments() -> None:
    finding = with_argument(crash(), -3)

    assert rater().rated(finding) == finding
    assert rater().conforming(finding) == []


def test_conforming_calls_are_proposed_for_a_violating_one() -> None:
    proposed = rater().conforming(with_argument(difference(), -3))

    assert proposed
    arguments = [as_call(case).arguments[0] for case in proposed]
    assert all(isinstance(a, LiteralValue) for a in arguments)
    assert LiteralValue(1) in arguments
    assert LiteralValue(-1) not in arguments
    assert rater().conforming(with_argument(difference(), 3)) == []


def tensor(*shape: int) -> TensorValue:
    return TensorValue(dtype="float32", shape=shape, fill=Constant(1.0))


def given(finding: Finding, *arguments: Value, **keywords: Value) -> Finding:
    case = ApiCall(
        api=API,
        kind=CallKind.FUNCTION,
        arguments=(LiteralValue(3), *arguments),
        keywords=tuple(keywords.items()),
    )
    return replace(finding, api=API, case=case)


ODD = [LiteralValue("x"), LiteralValue(1e300), tensor(0), ListValue(()), DtypeValue("float32")]


@pytest.mark.parametrize("value", ODD, ids=str)
def test_an_unusual_value_of_an_undocumented_argument_is_informative(value: Value) -> None:
    rated = rater().rated(given(difference(), value))

    assert rated.severity is Severity.INFO
    assert rated.evidence.breach == "rest is undocumented and has an unusual value"
    assert rater().rated(given(difference(), other=value)).severity is Severity.INFO
    assert rater().rated(given(crash(), value)) == given(crash(), value)


@pytest.mark.parametrize("value", [LiteralValue(2), LiteralValue(None), tensor(2, 3)], ids=str)
def test_a_plain_value_of_an_undocumented_argument_counts(value: Value) -> None:
    assert rater().rated(given(difference(), value)) == given(difference(), value)


def test_an_unusual_value_of_a_documented_argument_counts() -> None:
    finding = given(difference(), how=LiteralValue("x"))

    assert rater().rated(finding) == finding


def test_plain_values_are_proposed_for_unusual_and_forbidden_ones() -> None:
    odd = LiteralValue("x")
    case = ApiCall(
        api=API,
        kind=CallKind.FUNCTION,
        arguments=(LiteralValue(-3), odd),
        keywords=(("other", odd),),
    )

    calls = [as_call(c) for c in rater().conforming(replace(difference(), api=API, case=case))]

    assert {call.arguments[0] for call in calls} > {LiteralValue(1)}
    assert LiteralValue(-3) not in {call.arguments[0] for call in calls}
    assert {call.arguments[1] for call in calls} == {LiteralValue(1), LiteralValue(None)}
    assert {len(call.keywords) for call in calls} == {0, 1}
    assert odd not in {value for call in calls for value in (*call.arguments, *call.values)}


def internal(message: str, *arguments: Value, exception: str = "InternalError") -> Finding:
    case = ApiCall(api=API, kind=CallKind.FUNCTION, arguments=arguments)
    finding = replace(crash(), oracle="internal-error", severity=Severity.HIGH, api=API, case=case)
    return replace(finding, outcomes={ONE: Errored(exception, message)})


def named_rater(doc: str = "Makes a vector.") -> Rater:
    tested = group(member(ONE), member(TWO))
    parameters = (ParameterRecord(name="debug_spec", annotation="str"),)
    for one in tested.members.values():
        one.catalogue = {API: replace(RECORD, parameters=parameters, doc=doc)}
    return Rater({"planted": tested})


@pytest.mark.parametrize(
    ("finding", "severity"),
    [
        (internal("wrong number of semicolons in debug_spec: abc"), Severity.LOW),
        (internal("debug_spec.size() INTERNAL ASSERT FAILED, please report"), Severity.HIGH),
        (internal("cannot access debug_spec", exception="UnboundLocalError"), Severity.HIGH),
        (internal("unexpected state in kernel"), Severity.HIGH),
        (internal("vector larger than max_size()", LiteralValue(2**62)), Severity.LOW),
        (internal("vector larger than max_size()", LiteralValue(2)), Severity.HIGH),
    ],
    ids=[
        "names its argument",
        "assertion",
        "mistake in Python",
        "names nothing",
        "huge",
        "ordinary",
    ],
)
def test_an_internal_error_about_an_argument_is_a_refusal_of_the_wrong_class(
    finding: Finding, severity: Severity
) -> None:
    assert named_rater().rated(finding).severity is severity


@pytest.mark.parametrize(
    ("argument", "severity"),
    [(LiteralValue(value=False), Severity.LOW), (LiteralValue(value=True), Severity.HIGH)],
)
def test_a_finding_with_disabled_validation_has_low_severity(
    argument: Value, severity: Severity
) -> None:
    finding = internal("indices[2, 1] expected < 4")
    case = replace(as_call(finding.case), keywords=(("validate_indices", argument),))

    assert named_rater().rated(replace(finding, case=case)).severity is severity


@pytest.mark.parametrize(("number", "severity"), [(2**62, Severity.LOW), (2, Severity.HIGH)])
def test_values_read_out_of_bounds_have_low_severity(number: int, severity: Severity) -> None:
    case = ApiCall(api=API, kind=CallKind.FUNCTION, arguments=(LiteralValue(number),))
    finding = replace(difference(), kind="values", severity=Severity.HIGH, api=API, case=case)

    assert rater().rated(finding).severity is severity


@pytest.mark.parametrize(("number", "severity"), [(2**40, Severity.LOW), (40, Severity.CRITICAL)])
def test_a_crash_by_an_unchecked_allocation_has_low_severity(
    number: int, severity: Severity
) -> None:
    tested = group(member(ONE), member(TWO))
    for one in tested.members.values():
        unchecked = replace(one.environment.library, checks_allocations=False)
        one.environment = replace(one.environment, library=unchecked)
    case = ApiCall(api=API, kind=CallKind.FUNCTION, arguments=(LiteralValue(number),))
    died = replace(crash(), api=API, case=case)

    assert Rater({"planted": tested}).rated(died).severity is severity
    assert rater().rated(died).severity is Severity.CRITICAL


def test_a_container_that_is_too_long_has_low_severity_without_documentation() -> None:
    finding = internal("vector larger than max_size()", LiteralValue(2))

    assert named_rater(doc="").rated(finding).severity is Severity.LOW


@pytest.mark.parametrize(
    ("api", "intent", "severity"),
    [
        ("torch.ops.aten.gelu", Intent.BOUNDARY, Severity.LOW),
        ("torch.ops.aten.gelu", Intent.CONFORMING, Severity.LOW),
        ("torch.gelu", Intent.CONFORMING, Severity.HIGH),
        ("torch.gelu", Intent.BOUNDARY, Severity.HIGH),
    ],
)
def test_differences_of_raw_entry_points_have_low_severity(
    api: str, intent: Intent, severity: Severity
) -> None:
    case = ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue(1),), intent=intent)
    finding = replace(difference(), api=api, case=case)

    assert rater().rated(finding).severity is severity


@pytest.mark.parametrize(
    ("argument", "intent", "said", "severity"),
    [
        (LiteralValue(1), Intent.BOUNDARY, "too small", Severity.MEDIUM),
        (LiteralValue(2**63), Intent.BOUNDARY, "too large", Severity.LOW),
        (LiteralValue(2**63), Intent.CONFORMING, "too large", Severity.MEDIUM),
        (LiteralValue(1), Intent.CONFORMING, "accelerator: none is available", Severity.LOW),
        (LiteralValue(1), Intent.CONFORMING, "Torch not compiled with CUDA enabled", Severity.LOW),
        (LiteralValue(1), Intent.CONFORMING, "CUDA error: invalid argument", Severity.MEDIUM),
    ],
    ids=["plain", "odd", "conforming", "no device", "no build for it", "on a device"],
)
def test_the_severity_of_a_new_rejection_depends_on_the_arguments(
    argument: Value, intent: Intent, said: str, severity: Severity
) -> None:
    case = ApiCall(api="torch.gelu", kind=CallKind.FUNCTION, arguments=(argument,), intent=intent)
    outcomes: dict[str, Outcome] = {
        ONE: Passed(b'["i","1"]', 0.1),
        TWO: Rejected("RuntimeError", said),
    }
    finding = replace(
        difference(), kind="refused", severity=Severity.MEDIUM, case=case, outcomes=outcomes
    )

    assert rater().rated(finding).severity is severity


@pytest.mark.parametrize("oracle", ["differential", "metamorphic", "internal-error", "performance"])
def test_all_oracles_that_need_conforming_calls_are_rated(oracle: str) -> None:
    finding = replace(with_argument(difference(), -3), oracle=oracle)

    assert rater().rated(finding).severity is Severity.INFO


def test_a_finding_of_an_undocumented_api_keeps_its_severity() -> None:
    unknown = replace(with_argument(difference(), -3), api="planted.unknown")

    assert rater().rated(unknown) == unknown
