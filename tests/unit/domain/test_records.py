"""Records of APIs: JSON round trips and validation."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import (
    ApiRecord,
    ParameterKind,
    ParameterRecord,
    record_from_json,
    record_to_json,
)

texts = st.text(max_size=8)
names = st.lists(texts, max_size=2).map(tuple)
parameters = st.builds(
    ParameterRecord,
    name=texts,
    kind=st.sampled_from(ParameterKind),
    required=st.booleans(),
    default=st.none() | texts,
    annotation=texts,
    schema_type=texts,
    dtypes=names,
    same_dtype_as=texts,
    same_length_as=texts,
    allowed=names,
    minimum=st.none() | st.integers(),
    length=st.none() | st.integers(),
    doc_type=texts,
    doc=texts,
)
records = st.builds(
    ApiRecord,
    api=texts,
    kind=st.sampled_from(CallKind),
    parameters=st.lists(parameters, max_size=3).map(tuple),
    inputs=st.lists(parameters, max_size=2).map(tuple),
    doc=texts,
    source=texts,
    tags=st.frozensets(texts, max_size=3),
    operator=texts,
    aliases=names,
    undeclared_parameters=names,
    unread=names,
    forms=names,
)


@given(records)
def test_record_round_trips_through_json(record: ApiRecord) -> None:
    assert record_from_json(json.loads(json.dumps(record_to_json(record)))) == record


def test_record_to_json_omits_defaults() -> None:
    plain = ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=(ParameterRecord(name="x"),))

    assert record_to_json(plain) == {
        "api": "lib.f",
        "kind": "function",
        "parameters": [{"name": "x"}],
    }


@pytest.mark.parametrize(
    "encoded",
    [{}, [], 3, {"api": "f", "kind": "f"}, {"api": "f", "kind": "function", "parameters": [1]}],
    ids=repr,
)
def test_record_from_json_with_malformed_json_raises(encoded: object) -> None:
    with pytest.raises(ValueError, match="malformed API record"):
        record_from_json(encoded)  # type: ignore[arg-type]
