"""What a call does to its arguments is in its record, and only if it did something."""

from __future__ import annotations

import json

import numpy as np
import pytest
from ciguard_planted.adapter import PlantedAdapter

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_to_json
from ciguard.domain.values import (
    ArrayValue,
    Constant,
    ListValue,
    LiteralValue,
    MemberValue,
    Uniform,
    Value,
)
from ciguard.execution import Effects, Scalar, TensorOutput, decode_effects, decode_outputs
from ciguard.execution.worker.loop import Executor

ONES = ArrayValue("float32", (3,), Constant(1.0))
DRAWN = ArrayValue("float32", (3,), Uniform(1, 0.0, 1.0))


def record(
    api: str, *arguments: Value, kind: CallKind = CallKind.FUNCTION, out: Value | None = None
) -> bytes:
    keywords = (("out", out),) if out is not None else ()
    case = ApiCall(api=api, kind=kind, arguments=arguments, keywords=keywords)
    _, payload = Executor(PlantedAdapter()).execute(json.loads(json.dumps(case_to_json(case))))
    return payload


def test_a_call_without_side_effects_reports_none() -> None:
    payload = record("numpy.add", ONES, DRAWN)

    assert payload.startswith(b'["T"')
    assert decode_effects(payload) == Effects()


def test_a_changed_argument_is_reported_by_its_index() -> None:
    payload = record("numpy.copyto", ONES, DRAWN)

    assert decode_effects(payload) == Effects(changed=(0,))
    assert decode_outputs(payload) == Scalar("none", "")


def test_an_output_that_is_an_argument_shares_its_memory() -> None:
    payload = record("numpy.asarray", DRAWN)

    assert decode_effects(payload) == Effects(shared=(0,))
    assert isinstance(decode_outputs(payload), TensorOutput)


def test_arrays_inside_of_lists_are_counted_in_order() -> None:
    pair = ListValue((ONES, DRAWN))

    payload = record("functools.reduce", MemberValue("numpy.copyto"), pair)

    assert decode_effects(payload) == Effects(changed=(0,))


def test_the_receiver_is_counted_first_and_keyword_arguments_last() -> None:
    into = record("numpy.add", ONES, ONES, out=DRAWN)
    method = record("numpy.ndarray.sort", DRAWN, LiteralValue(0), kind=CallKind.METHOD)

    assert decode_effects(into) == Effects(changed=(2,), shared=(2,))
    assert decode_effects(method) == Effects(changed=(0,))


def test_large_arrays_are_not_watched() -> None:
    large = ArrayValue("float64", (4096,), Constant(1.0))

    assert decode_effects(record("numpy.copyto", large, LiteralValue(2.0))) == Effects()


@pytest.mark.parametrize("text", [b'["E"', b'["E",1]', b'["E",[0],["x"],null]', b'["E",0,0,null]'])
def test_malformed_effects_decode_to_none(text: bytes) -> None:
    assert decode_effects(text) == Effects()


def test_returned_arrays_have_their_values_after_the_call() -> None:
    output = decode_outputs(record("numpy.add", ONES, ONES, out=DRAWN))

    assert isinstance(output, TensorOutput)
    np.testing.assert_array_equal(output.elements, np.full(3, 2.0, "float32"))
