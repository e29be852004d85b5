"""Everything in the vocabulary survives its JSON form."""

from __future__ import annotations

import json

import pytest
from finding_examples import crash
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import OpaqueCase, case_from_json, case_id, case_to_json
from ciguard.domain.causes import Cause
from ciguard.domain.findings import (
    Bucket,
    Comparison,
    Confirmation,
    Evidence,
    Finding,
    PairKind,
    Severity,
    bucket_from_json,
    bucket_to_json,
    finding_from_json,
    finding_to_json,
)
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import (
    Crashed,
    Errored,
    Exhausted,
    Frame,
    Hung,
    Passed,
    Rejected,
    Resource,
    Stage,
    outcome_from_json,
    outcome_to_json,
)
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    MemberValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
    value_from_json,
    value_to_json,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(st.integers(), finite, st.booleans())
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(),
    st.binary(),
)
fills = st.one_of(
    st.builds(Constant, st.one_of(st.integers(), st.floats(allow_nan=False))),
    st.builds(Uniform, st.integers(0), finite, finite),
    st.builds(Special, st.integers(0)),
    st.builds(Explicit, st.lists(numbers, max_size=4).map(tuple)),
)
shapes = st.lists(st.integers(0, 9), max_size=4).map(tuple)
leaves: st.SearchStrategy[Value] = st.one_of(
    st.builds(LiteralValue, scalars),
    st.builds(TensorValue, st.sampled_from(["float32", "int64", "string"]), shapes, fills),
    st.builds(ArrayValue, st.just("float64"), shapes, fills),
    st.builds(DtypeValue, st.just("float16")),
    st.builds(MemberValue, st.just("torch.strided")),
)
values: st.SearchStrategy[Value] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(ListValue, st.lists(inner, max_size=3).map(tuple)),
        st.builds(TupleValue, st.lists(inner, max_size=3).map(tuple)),
        st.builds(DictValue, st.lists(st.tuples(st.text(), inner), max_size=3).map(tuple)),
        st.builds(
            CallValue,
            st.text(),
            st.lists(inner, max_size=2).map(tuple),
            st.lists(st.tuples(st.text(), inner), max_size=2).map(tuple),
        ),
    ),
    max_leaves=6,
)
many = st.lists(values, max_size=3).map(tuple)
cases = st.builds(
    ApiCall,
    api=st.text(),
    kind=st.sampled_from(CallKind),
    arguments=many,
    keywords=st.lists(st.tuples(st.text(), values), max_size=2).map(tuple),
    inputs=many,
    seed=st.integers(0),
    intent=st.sampled_from(Intent),
    focus=st.text(),
)
stacks = st.lists(st.builds(Frame, st.text(), st.text()), max_size=3).map(tuple)
outcomes = st.one_of(
    st.builds(Passed, st.text(st.characters(codec="ascii")).map(str.encode), finite),
    st.builds(Rejected, st.text(), st.text(), st.sampled_from(Stage)),
    st.builds(Errored, st.text(), st.text(), stacks),
    st.builds(Crashed, st.text(), stacks, st.text()),
    st.builds(Hung, finite, stacks),
    st.builds(Exhausted, st.sampled_from(Resource), st.text(), st.booleans()),
)
evidences = st.builds(
    Evidence, expected=st.text(), observed=st.text(), law=st.text(), source=st.text()
)
findings = st.builds(
    Finding,
    oracle=st.text(),
    kind=st.text(),
    severity=st.sampled_from(Severity),
    library=st.text(),
    api=st.text(),
    case=cases,
    outcomes=st.dictionaries(st.text(), outcomes, max_size=2),
    targets=st.lists(st.text(), max_size=2).map(tuple),
    pair=st.sampled_from(PairKind),
    detail=st.text(),
    message=st.text(),
    evidence=evidences,
)
buckets = st.builds(
    Bucket,
    fingerprint=st.text(),
    grouping=st.lists(st.tuples(st.text(), st.text()), max_size=2).map(tuple),
    finding=findings,
    count=st.integers(1),
    confirmation=st.sampled_from(Confirmation),
    comparison=st.sampled_from(Comparison),
    reproducer=st.text(),
    reproduced=st.booleans(),
    aliases=st.lists(st.text(), max_size=2).map(tuple),
    native_stack=st.lists(st.builds(Frame, st.text(), st.text()), max_size=2).map(tuple),
    cause=st.none() | st.builds(Cause, name=st.text(), kind=st.text(), text=st.text()),
)


@given(values)
def test_a_value_survives_json(value: Value) -> None:
    encoded = json.loads(json.dumps(value_to_json(value)))

    assert value_from_json(encoded) == value


def test_nan_survives_json() -> None:
    encoded = json.loads(json.dumps(value_to_json(LiteralValue(float("nan"))), allow_nan=False))

    assert repr(value_from_json(encoded)) == "LiteralValue(value=nan)"


def test_a_case_of_a_kind_that_is_not_installed_is_kept_as_it_is() -> None:
    encoded = ["lib.f", "stride", [1, {"of": "another package"}]]

    case = case_from_json(encoded)

    assert isinstance(case, OpaqueCase)
    assert (case.api, case.level, case.is_run_by_worker) == ("lib.f", "stride", False)
    assert case_to_json(case) == encoded
    assert case_from_json(json.loads(json.dumps(case_to_json(case)))) == case
    for wrong in ([1, "stride"], ["lib.f", 2], ["lib.f", "St ride"], ["lib.f"]):
        with pytest.raises(ValueError, match="not an encoded case"):
            case_from_json(wrong)


@given(cases)
def test_a_case_survives_json_and_keeps_its_name(case: ApiCall) -> None:
    again = case_from_json(json.loads(json.dumps(case_to_json(case))))

    assert again == case
    assert case_id(again) == case_id(case)


@given(outcomes)
def test_an_outcome_survives_json(outcome: Passed) -> None:
    assert outcome_from_json(json.loads(json.dumps(outcome_to_json(outcome)))) == outcome


@given(findings)
def test_a_finding_survives_json(finding: Finding) -> None:
    assert finding_from_json(json.loads(json.dumps(finding_to_json(finding)))) == finding


def test_a_finding_of_before_there_was_evidence_is_read() -> None:
    encoded = finding_to_json(crash())
    del encoded["evidence"]

    assert finding_from_json(encoded) == crash()


@given(buckets)
def test_a_bucket_survives_json(bucket: Bucket) -> None:
    assert bucket_from_json(json.loads(json.dumps(bucket_to_json(bucket)))) == bucket


@pytest.mark.parametrize(
    "text", ['["q"]', "[]", '{"a": 1}', '["t", "float32", [1]]', '["t", "x", [1], ["w"]]']
)
def test_what_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an encoded value"):
        value_from_json(json.loads(text))


@pytest.mark.parametrize("text", ["[]", "{}", '["a", "function", [], [], [], 0, "sometimes", ""]'])
def test_what_is_no_case_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an encoded case"):
        case_from_json(json.loads(text))


@pytest.mark.parametrize("text", ["[]", "{}", '{"status": "asleep"}', '{"status": "hung"}'])
def test_what_is_no_outcome_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an encoded outcome"):
        outcome_from_json(json.loads(text))
