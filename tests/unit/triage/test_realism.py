"""Realism: unusual properties of calls."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from finding_examples import call, crash
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.intent import Intent
from ciguard.domain.values import (
    CallValue,
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    Uniform,
)
from ciguard.triage import realism

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.domain.values import Value

PLAIN = TensorValue("float32", (2, 3), Uniform(1, -1.0, 1.0))


def finding_of(
    *values: Value, api: str = "torch.nn.functional.fold", intent: str = "conforming"
) -> Finding:
    return crash(case=replace(call(api=api), arguments=values, intent=Intent(intent)))


def test_realism_of_a_common_call_has_all_points() -> None:
    plain = realism(finding_of(PLAIN, LiteralValue("mean"), LiteralValue(None), LiteralValue(-1)))

    assert (plain.points, plain.is_plain, plain.words) == (5, True, "5 of 5")


@pytest.mark.parametrize(
    ("value", "unusual"),
    [
        (replace(PLAIN, dtype="qint8"), "type qint8"),
        (DtypeValue("float8_e5m2"), "type float8_e5m2"),
        (replace(PLAIN, shape=(0, 3)), "an empty tensor"),
        (replace(PLAIN, shape=(1,) * 6), "6 dimensions"),
        (replace(PLAIN, shape=(65536, 65536)), "a huge tensor"),
        (replace(PLAIN, fill=Special(1)), "infinities or NaN"),
        (replace(PLAIN, fill=Constant(math.inf)), "the number inf"),
        (replace(PLAIN, fill=Explicit((1.0, math.nan))), "the number nan"),
        (LiteralValue(2**62), f"the number {2**62}"),
        (LiteralValue(10**5000), "a huge number"),
        (LiteralValue("x" * 201), "an unusual string"),
        (LiteralValue("\0"), "an unusual string"),
        (ListValue((LiteralValue(-math.inf),)), "the number -inf"),
        (CallValue("torch.nn.Linear", (LiteralValue(-(2**40)),)), f"the number {-(2**40)}"),
    ],
)
def test_realism_of_an_unusual_value_loses_a_point(value: Value, unusual: str) -> None:
    result = realism(finding_of(PLAIN, value))

    assert result.unusual == (unusual,)
    assert result.words == f"4 of 5 ({unusual})"


@pytest.mark.parametrize("api", ["tensorflow.raw_ops.Abs", "torch._C._nn.gelu", "torch._foo"])
def test_realism_of_a_raw_entry_point_loses_a_point(api: str) -> None:
    assert realism(finding_of(PLAIN, api=api)).unusual == ("a raw entry point",)


def test_realism_of_a_python_operator_has_all_points() -> None:
    assert realism(finding_of(PLAIN, api="torch.Tensor.__add__")).is_plain


def test_realism_of_a_documentation_violation_loses_a_point() -> None:
    violating = finding_of(PLAIN)
    violating = replace(violating, evidence=replace(violating.evidence, breach="p is -1"))

    assert realism(violating).unusual == ("not as documented",)
    assert realism(finding_of(PLAIN, intent="violating")).unusual == (
        "arguments that are forbidden",
    )


NUMBERS = st.floats() | st.integers() | st.booleans()


@given(
    st.lists(NUMBERS.map(LiteralValue) | NUMBERS.map(lambda n: replace(PLAIN, fill=Constant(n))))
)
def test_realism_accepts_any_value(values: list[Value]) -> None:
    result = realism(finding_of(*values))

    assert 0 <= result.points <= 5
    assert result.words
