"""JSON round trips of values, cases, outcomes, findings and buckets."""

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
arguments = st.lists(values, max_size=3).map(tuple)
cases = st.builds(
    ApiCall,
    api=st.text(),
    kind=st.sampled_from(CallKind),
    arguments=arguments,
    keywords=st.lists(st.tuples(st.text(), values), max_size=2).map(tuple),
    inputs=arguments,
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
def test_value_round_trips_through_json(value: Value) -> None:
    encoded = json.loads(json.dumps(value_to_json(value)))

    assert value_from_json(encoded) == value


def test_nan_round_trips_through_json() -> None:
    encoded = json.loads(json.dumps(value_to_json(LiteralValue(float("nan"))), allow_nan=False))

    assert repr(value_from_json(encoded)) == "LiteralValue(value=nan)"


def test_case_of_an_unknown_kind_is_kept_unchanged() -> None:
    encoded = ["lib.f", "stride", [1, {"of": "another package"}]]

    case = case_from_json(encoded)

    assert isinstance(case, OpaqueCase)
    assert (case.api, case.level, case.is_run_by_worker) == ("lib.f", "stride", False)
    assert case_to_json(case) == encoded
    assert case_from_json(json.loads(json.dumps(case_to_json(case)))) == case
    for malformed in ([1, "stride"], ["lib.f", 2], ["lib.f", "St ride"], ["lib.f"]):
        with pytest.raises(ValueError, match="malformed case"):
            case_from_json(malformed)


@given(cases)
def test_case_and_its_id_round_trip_through_json(case: ApiCall) -> None:
    decoded = case_from_json(json.loads(json.dumps(case_to_json(case))))

    assert decoded == case
    assert case_id(decoded) == case_id(case)


@given(outcomes)
def test_outcome_round_trips_through_json(outcome: Passed) -> None:
    assert outcome_from_json(json.loads(json.dumps(outcome_to_json(outcome)))) == outcome


@given(findings)
def test_finding_round_trips_through_json(finding: Finding) -> None:
    assert finding_from_json(json.loads(json.dumps(finding_to_json(finding)))) == finding


def test_finding_from_json_accepts_findings_without_evidence() -> None:
    encoded = finding_to_json(crash())
    del encoded["evidence"]

    assert finding_from_json(encoded) == crash()


@given(buckets)
def test_bucket_round_trips_through_json(bucket: Bucket) -> None:
    assert bucket_from_json(json.loads(json.dumps(bucket_to_json(bucket)))) == bucket


@pytest.mark.parametrize(
    "text", ['["q"]', "[]", '{"a": 1}', '["t", "float32", [1]]', '["t", "x", [1], ["w"]]']
)
def test_value_from_json_with_malformed_json_raises(text: str) -> None:
    with pytest.raises(ValueError, match="malformed value"):
        value_from_json(json.loads(text))


@pytest.mark.parametrize("text", ["[]", "{}", '["a", "function", [], [], [], 0, "sometimes", ""]'])
def test_case_from_json_with_malformed_json_raises(text: str) -> None:
    with pytest.raises(ValueError, match="malformed case"):
        case_from_json(json.loads(text))


@pytest.mark.parametrize("text", ["[]", "{}", '{"status": "asleep"}', '{"status": "hung"}'])
def test_outcome_from_json_with_malformed_json_raises(text: str) -> None:
    with pytest.raises(ValueError, match="malformed outcome"):
        outcome_from_json(json.loads(text))
