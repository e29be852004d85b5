from __future__ import annotations

import pytest

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import (
    Constant,
    Explicit,
    Fill,
    LiteralValue,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.oracles.preconditions import meets_precondition


def call(function: str, *arguments: Value) -> ApiCall:
    return ApiCall(api=f"keras.ops.{function}", kind=CallKind.FUNCTION, arguments=arguments)


def vector(fill: Fill, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, (3,), fill)


UNIT, SIGNED = vector(Uniform(1, 0.0, 1.0)), vector(Uniform(1, -1.0, 1.0))
RISING, FALLING = vector(Explicit((1, 2, 5))), vector(Explicit((5, 2, 1)))
NAN = vector(Explicit((0.0, float("nan"), 1.0)))


@pytest.mark.parametrize(
    ("case", "is_met"),
    [
        (call("clip", SIGNED, LiteralValue(0), LiteralValue(1)), True),
        (call("clip", SIGNED, LiteralValue(2), LiteralValue(1)), False),
        (call("clip", SIGNED, SIGNED, UNIT), False),
        (call("clip", SIGNED, LiteralValue(None), LiteralValue(1)), False),
        (call("clip", SIGNED), False),
        (call("left_shift", SIGNED, vector(Constant(3), "int32")), True),
        (call("left_shift", SIGNED, vector(Constant(-3), "int32")), False),
        (call("image.hsv_to_rgb", UNIT), True),
        (call("image.hsv_to_rgb", SIGNED), False),
        (call("image.rgb_to_hsv", NAN), False),
        (call("digitize", SIGNED, RISING), True),
        (call("digitize", SIGNED, FALLING), False),
        (call("searchsorted", RISING, SIGNED), True),
        (call("searchsorted", UNIT, SIGNED), False),
        (call("top_k", UNIT, LiteralValue(0)), True),
        (call("top_k", UNIT, LiteralValue(2), LiteralValue(value=True)), True),
        (call("top_k", UNIT, LiteralValue(2), LiteralValue(value=False)), False),
        (call("add", UNIT, UNIT), False),
    ],
)
def test_preconditions_hold_for_documented_arguments(case: ApiCall, *, is_met: bool) -> None:
    assert meets_precondition(case) is is_met
