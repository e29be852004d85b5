"""None where an operator needs a tensor: found by its schema; a tensor is tried in its place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaign_examples import ONE, crash, difference, finding, group, member

from ciguard.campaign.rating import Rater
from ciguard.campaign.undefined import undefined_tensors, with_tensors
from ciguard.domain.api_calls import ApiCall, CallKind, as_call
from ciguard.domain.findings import Finding, Severity
from ciguard.domain.outcomes import Errored
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import Constant, LiteralValue, TensorValue, Value

API = "torch.ops.aten.norm_backward"
RECORD = ApiRecord(
    api=API,
    kind=CallKind.FUNCTION,
    parameters=(
        ParameterRecord(name="grad", schema_type="Tensor"),
        ParameterRecord(name="weight", schema_type="Tensor?"),
        ParameterRecord(name="self", schema_type="Tensor"),
    ),
    source="schema",
)
NONE = LiteralValue(None)
TENSOR = TensorValue(dtype="int64", shape=(4,), fill=Constant(1))


def call(*arguments: Value, api: str = API, **keywords: Value) -> ApiCall:
    return ApiCall(
        api=api, kind=CallKind.FUNCTION, arguments=arguments, keywords=tuple(keywords.items())
    )


@pytest.mark.parametrize(
    ("met", "names"),
    [
        (call(NONE, NONE, TENSOR), ["grad"]),
        (call(TENSOR, NONE, NONE), ["self"]),
        (call(NONE, weight=NONE, self=NONE), ["grad", "self"]),
        (call(TENSOR, NONE, TENSOR), []),
        (call(TENSOR), []),
    ],
    ids=["by position", "the last", "by keyword", "optional", "left out"],
)
def test_only_none_for_a_required_tensor_is_undefined(met: ApiCall, names: list[str]) -> None:
    assert undefined_tensors(met, [RECORD]) == names


def test_public_and_undocumented_functions_have_no_undefined_tensors() -> None:
    assert undefined_tensors(call(NONE, api="torch.norm"), [RECORD]) == []
    assert undefined_tensors(call(NONE), []) == []


def test_none_is_replaced_by_the_first_tensor_or_a_plain_one() -> None:
    like, plain = with_tensors(call(NONE, NONE, TENSOR), RECORD, ["grad"])

    assert like == call(TENSOR, NONE, TENSOR)
    assert isinstance(plain.arguments[0], TensorValue)
    assert plain.arguments[0].dtype == "float32"
    assert len(list(with_tensors(call(NONE, self=NONE), RECORD, ["grad", "self"]))) == 1


def rater() -> Rater:
    tested = member(ONE)
    tested.catalogue = {API: RECORD}
    return Rater({"planted": group(tested)})


INTERNAL = replace(
    finding(Errored("RuntimeError", "op INTERNAL ASSERT FAILED"), case=call(NONE)),
    oracle="internal-error",
    kind="RuntimeError",
    severity=Severity.HIGH,
)
DEATH = replace(crash(), api=API, case=call(NONE, NONE, TENSOR))


@pytest.mark.parametrize("met", [DEATH, INTERNAL], ids=["crash", "internal error"])
def test_a_finding_with_an_undefined_tensor_names_it(met: Finding) -> None:
    rated = rater().rated(met)

    assert rated.evidence.undefined == "grad"
    assert rated.evidence.breach == ""
    assert rated.severity is met.severity  # reach decides, when all buckets are known
    assert rater().breaches(met) == ("grad is None, and must be a tensor",)


@pytest.mark.parametrize("met", [DEATH, INTERNAL], ids=["crash", "internal error"])
def test_a_call_with_tensors_is_proposed_instead(met: Finding) -> None:
    proposed = [as_call(case) for case in rater().conforming(met)]

    assert proposed
    assert all(isinstance(one.arguments[0], TensorValue) for one in proposed)
    assert all(one.arguments[1:] == as_call(met.case).arguments[1:] for one in proposed)


def test_differences_are_rated_by_the_documentation_alone() -> None:
    met = replace(difference(), api=API, case=call(NONE, NONE, TENSOR))

    assert rater().rated(met).evidence.undefined == ""
