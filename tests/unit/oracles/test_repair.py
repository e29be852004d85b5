"""Repair of calls that violate specifications."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import Constant, DtypeValue, ListValue, LiteralValue, TensorValue, Value
from ciguard.oracles.specifications import (
    Specification,
    repaired_calls,
    specifications_of,
    violated_specifications,
)

NORM = "A 0-D (scalar) `Tensor` > 0. A maximum clipping value. Also broadcastable"


def specifications(**docs: str) -> list[Specification]:
    parameters = tuple(ParameterRecord(name=name, doc=doc) for name, doc in docs.items())
    record = ApiRecord(
        api="tensorflow.clip", kind=CallKind.FUNCTION, parameters=parameters, source="signature"
    )
    return [*chain.from_iterable(specifications_of(record).values())]


def call(*arguments: Value, **keywords: Value) -> ApiCall:
    return ApiCall(
        api="tensorflow.clip",
        kind=CallKind.FUNCTION,
        arguments=arguments,
        keywords=tuple(keywords.items()),
    )


def test_a_positive_tensor_is_a_range_requirement() -> None:
    negative = TensorValue("float32", (), Constant(-1.0))

    ((specification, value),) = violated_specifications(
        call(negative), specifications(clip_norm=NORM)
    )

    assert specification.words == "greater than 0"
    assert value == "a tensor with the element -1.0"


@pytest.mark.parametrize(
    ("doc", "value"),
    [
        (NORM, TensorValue("float32", (), Constant(-1.0))),
        ("A number > 0.", LiteralValue(-3)),
        ("Must be in [0, 1].", LiteralValue(7.5)),
        ("Must be at least 1.", ListValue((LiteralValue(0), LiteralValue(-2)))),
        ("Must be one of 'same', 'valid'.", LiteralValue("full")),
        ("A 3-D tensor.", TensorValue("float32", (2,), Constant(0))),
        ("Must be float32 or float64.", TensorValue("int8", (2,), Constant(0))),
        ("Must be float32 or float64.", DtypeValue("int8")),
    ],
)
def test_a_violating_argument_is_replaced_by_a_conforming_one(doc: str, value: Value) -> None:
    written = specifications(x=doc)
    assert violated_specifications(call(value), written)

    for broken in (call(value), call(x=value)):
        repaired = repaired_calls(broken, written)

        assert repaired
        assert not any(violated_specifications(other, written) for other in repaired)
        assert all(len(other.values) == 1 for other in repaired)


@given(st.integers(), st.integers(), st.booleans())
def test_conforming_arguments_stay_and_all_violations_are_repaired_together(
    low: int,
    high: int,
    by_name: bool,  # noqa: FBT001 - drawn
) -> None:
    written = specifications(low="Must be at least 0.", high="Must be at most 10.")
    values = {"low": LiteralValue(low), "high": LiteralValue(high)}
    case = call(**values) if by_name else call(*values.values())

    repaired = repaired_calls(case, written)

    is_broken = low < 0 or high > 10
    assert bool(repaired) is is_broken
    assert not any(violated_specifications(other, written) for other in repaired)
    if low >= 0:
        assert all(LiteralValue(low) in other.values for other in repaired)
