"""Calls of level `api` between backends: scouting, examples, contents and options."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind, as_call
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.records import ApiRecord, record_from_json
from ciguard.domain.values import (
    Constant,
    DtypeValue,
    Explicit,
    Fill,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.knowledge import experience_from_json
from ciguard.levels.api.compared import ComparedLevel
from ciguard.levels.api.guided import GuidedGenerator
from ciguard.levels.api.level import ApiLevel
from ciguard.levels.api.narrowing import narrowed
from ciguard.values.changes import change_contents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels import Batch

TENSOR = TensorValue("float32", (2, 3), Uniform(1, -1.0, 1.0))


def record(*parameters: dict[str, object], kind: CallKind = CallKind.FUNCTION) -> ApiRecord:
    return record_from_json(
        {
            "api": "keras.ops.reduce",
            "kind": kind.value,
            "source": "docstring",
            "parameters": list(parameters),
        }
    )


REDUCE = record(
    {"name": "x", "schema_type": "Tensor"},
    {"name": "axis", "schema_type": "int", "required": False, "default": "0"},
    {"name": "keepdims", "schema_type": "bool", "required": False, "default": "False"},
    {"name": "mode", "schema_type": "str", "allowed": ["a", "b", "c"], "required": False,
     "default": "'a'"},
)  # fmt: skip


def learned(outcome: Outcome, *, batches: int = 1) -> ComparedLevel:
    level = ComparedLevel([REDUCE], 0)
    for number in range(batches):
        batch = level.visit(REDUCE.api, number)
        feedback = level.feedback(batch, [outcome] * len(batch.cases))
        assert feedback is not None
        level.learn(REDUCE.api, feedback)
    return level


def calls(batch: Batch) -> list[ApiCall]:
    return [as_call(case) for case in batch.cases]


PASSED = Passed(b"1", 0.001)
REFUSED = Rejected("ValueError", "no")


def test_the_first_calls_run_on_one_target_until_one_passes() -> None:
    assert ComparedLevel([REDUCE], 0).visit(REDUCE.api, 0).is_scouting
    assert not learned(PASSED).visit(REDUCE.api, 1).is_scouting
    assert learned(REFUSED).visit(REDUCE.api, 1).is_scouting
    assert not learned(REFUSED, batches=3).visit(REDUCE.api, 3).is_scouting


def test_experience_of_earlier_campaigns_replaces_scouting() -> None:
    level = ComparedLevel([REDUCE], 0)
    level.recall(learned(PASSED).learned())

    assert not level.visit(REDUCE.api, 0).is_scouting


def test_scouting_calls_conform() -> None:
    batch = ComparedLevel([REDUCE], 0).visit(REDUCE.api, 0)

    assert {call.intent for call in calls(batch)} == {Intent.CONFORMING}


def run(level: ApiLevel, batches: int, *, refuses: bool = True) -> Iterator[ApiCall]:
    """Yield the calls of some batches; calls that conform are refused, and all others pass."""
    for number in range(batches):
        batch = level.visit(REDUCE.api, number)
        yield from calls(batch)
        outcomes = [
            REFUSED if refuses and call.intent is Intent.CONFORMING else PASSED
            for call in calls(batch)
        ]
        feedback = level.feedback(batch, outcomes)
        if feedback is not None:
            level.learn(REDUCE.api, experience_from_json(feedback.to_json()))


def conforms(call: ApiCall) -> bool:
    keywords = dict(call.keywords)
    modes = {LiteralValue(text) for text in "abc"}
    axis = keywords.get("axis", LiteralValue(0))
    tensor = call.arguments[0]
    assert isinstance(tensor, TensorValue)
    return (
        keywords.get("mode", LiteralValue("a")) in modes
        and isinstance(axis, LiteralValue)
        and isinstance(axis.value, int)
    )


@pytest.mark.parametrize("seed", range(4))
def test_no_other_call_becomes_an_example_of_a_conforming_one(seed: int) -> None:
    level = ComparedLevel([REDUCE], seed)

    ran = list(run(level, 12))

    assert {Intent.CONFORMING, Intent.BOUNDARY, Intent.SPECIAL} <= {call.intent for call in ran}
    assert all(conforms(call) for call in ran if call.intent is Intent.CONFORMING)
    assert level.generator(REDUCE.api).experience.examples == []


def test_examples_of_a_level_that_keeps_others_are_not_recalled() -> None:
    other = ApiLevel([REDUCE], 0)
    list(run(other, 6))
    learned_there = other.learned()
    assert learned_there[REDUCE.api].examples

    level = ComparedLevel([REDUCE], 0)
    level.recall(learned_there)

    assert level.visit(REDUCE.api, 0).is_scouting
    assert level.learned() == learned_there
    list(run(level, 4, refuses=False))
    assert not level.visit(REDUCE.api, 4).is_scouting
    assert level.learned()[REDUCE.api].examples_conform


def test_a_call_that_passed_is_repeated_with_other_elements_of_the_same_shape() -> None:
    level = learned(PASSED)

    first, *others = calls(level.visit(REDUCE.api, 1))

    assert first.intent is Intent.CONFORMING
    contents = [call for call in others[:4] if call.intent is Intent.SPECIAL]
    assert len(contents) == 4
    assert len({str(call.arguments) for call in contents}) == 4
    for call in contents:
        before, after = first.arguments[0], call.arguments[0]
        assert isinstance(before, TensorValue)
        assert isinstance(after, TensorValue)
        assert before.shape == after.shape
        assert before.fill != after.fill


def test_most_calls_have_no_64_bit_dtypes() -> None:
    level = learned(PASSED)
    batches = [level.visit(REDUCE.api, number) for number in range(1, 200)]

    dtypes = [
        value.dtype
        for batch in batches
        for call in calls(batch)
        for value in call.values
        if isinstance(value, TensorValue)
    ]

    wide = sum(dtype in {"float64", "int64", "uint64", "complex128"} for dtype in dtypes)
    assert 0 < wide < len(dtypes) / 10


def test_a_batch_depends_on_its_number_and_the_feedback_only() -> None:
    level = learned(PASSED)
    level.visit(REDUCE.api, 7)

    assert level.visit(REDUCE.api, 2) == learned(PASSED).visit(REDUCE.api, 2)


def test_options_go_through_all_listed_values() -> None:
    generator = GuidedGenerator(REDUCE)
    call = ApiCall(api=REDUCE.api, kind=CallKind.FUNCTION, arguments=(TENSOR,))

    options = [generator.with_option(call, number, Random(number)) for number in range(16)]

    passed = [dict(option.keywords) for option in options if option is not None]
    assert {"keepdims": LiteralValue(value=True)} in passed
    assert {"keepdims": LiteralValue(value=False)} in passed
    modes: set[Value] = {option["mode"] for option in passed if "mode" in option}
    assert {LiteralValue(text) for text in "abc"} <= modes
    assert any("axis" in option for option in passed)
    assert all(len(option) == 1 for option in passed)
    assert all(one != other for one, other in pairwise(passed))


def test_numbers_next_to_their_range_are_special() -> None:
    generator = GuidedGenerator(REDUCE)
    call = ApiCall(api=REDUCE.api, kind=CallKind.FUNCTION, arguments=(TENSOR,))

    options = [generator.with_option(call, number, Random(number)) for number in range(16)]

    special = {
        number.value
        for option in options
        if option is not None and option.intent is Intent.SPECIAL and option.focus == "axis"
        for number in dict(option.keywords).values()
        if isinstance(number, LiteralValue)
    }
    conforming = {
        number.value
        for option in options
        if option is not None and option.intent is Intent.CONFORMING
        for name, number in option.keywords
        if name == "axis" and isinstance(number, LiteralValue)
    }
    assert special == {2, -3}
    assert {-2, -1, 0, 1} <= conforming


def test_numbers_at_their_limits_are_boundary_calls() -> None:
    pool = record(
        {"name": "x", "schema_type": "Tensor"},
        {"name": "sizes", "schema_type": "int[]"},
        {"name": "rate", "schema_type": "float"},
    )
    generator = GuidedGenerator(pool)
    sizes = ListValue((LiteralValue(2), LiteralValue(3)))
    call = ApiCall(
        api=pool.api, kind=CallKind.FUNCTION, arguments=(TENSOR, sizes, LiteralValue(0.5))
    )

    found = [generator.with_number_at_limit(call, number, Random(0)) for number in range(16)]

    assert all(one is not None and one.intent is Intent.BOUNDARY for one in found)
    changed = {one.arguments[1:] for one in found if one is not None}
    zero = ListValue((LiteralValue(0), LiteralValue(3)))
    assert {(ListValue(()), LiteralValue(0.5)), (zero, LiteralValue(0.5))} <= changed
    assert (sizes, LiteralValue(-1.0)) in changed
    assert generator.with_number_at_limit(replace(call, arguments=(TENSOR,)), 0, Random(0)) is None


def test_each_batch_has_other_numbers_at_limits() -> None:
    pool = record({"name": "x", "schema_type": "Tensor"}, {"name": "sizes", "schema_type": "int[]"})
    sizes = ListValue((LiteralValue(2), LiteralValue(3)))
    call = ApiCall(api=pool.api, kind=CallKind.FUNCTION, arguments=(TENSOR, sizes))
    level = ComparedLevel([pool], 0)
    generator = level.generator(pool.api)
    generator.learn(generator.feedback([call], [PASSED]))

    first, second = (
        [one.arguments[1] for one in calls(level.visit(pool.api, number)) if at_limit(one, call)]
        for number in (1, 2)
    )

    assert (len(first), len(second)) == (1, 3)
    assert not set(map(str, first)) & set(map(str, second))


def at_limit(call: ApiCall, known: ApiCall) -> bool:
    same_tensor = call.arguments[0] == known.arguments[0]
    return call.intent is Intent.BOUNDARY and call.focus == "sizes" and same_tensor


def test_all_tensors_of_a_call_change_alike() -> None:
    generator = GuidedGenerator(REDUCE)
    call = ApiCall(api=REDUCE.api, kind=CallKind.FUNCTION, arguments=(TENSOR,))

    changed = [generator.with_joint_change(call, Random(seed)) for seed in range(30)]

    assert {one.intent for one in changed if one is not None} == {Intent.SPECIAL}
    shapes = {one.arguments[0].shape for one in changed if one is not None}  # type: ignore[union-attr]
    assert any(0 in shape for shape in shapes)
    assert generator.with_joint_change(replace(call, arguments=()), Random(0)) is None


def test_an_api_without_options_has_no_variants() -> None:
    generator = GuidedGenerator(record({"name": "x", "schema_type": "Tensor"}))
    call = ApiCall(api=REDUCE.api, kind=CallKind.FUNCTION, arguments=(TENSOR,))

    assert generator.with_option(call, 0, Random(0)) is None
    assert generator.example_call(0, Random(0)) is None


@given(st.sampled_from(["int64", "uint64", "float64"]), st.integers(0, 1 << 32))
def test_a_narrow_tensor_holds_the_numbers_that_the_call_states(dtype: str, seed: int) -> None:
    tensor = TensorValue(dtype, (2, 3), Explicit((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)))
    values: dict[str, Value] = {"x": tensor}
    change_contents(Random(seed), values)
    call = ApiCall(api=REDUCE.api, kind=CallKind.FUNCTION, arguments=(values["x"],))

    (narrow,) = narrowed(call).arguments

    assert isinstance(narrow, TensorValue)
    assert isinstance(narrow.fill, Explicit)
    wide = values["x"]
    assert isinstance(wide, TensorValue)
    assert isinstance(wide.fill, Explicit)
    name = {"int64": "int32", "uint64": "uint32", "float64": "float32"}[dtype]
    stored = np.array(narrow.fill.data, name)
    assert narrow.dtype == name
    np.testing.assert_array_equal(np.isinf(stored), np.isinf(np.array(wide.fill.data)))
    np.testing.assert_allclose(stored.astype(dtype), np.array(narrow.fill.data, dtype), rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "fill", "narrow"),
    [
        ("int64", Constant(2**63 - 1), Constant(2**31 - 1)),
        ("int64", Uniform(3, -(2.0**40), 7.0), Uniform(3, -(2**31), 7.0)),
        ("uint64", Explicit((2**64 - 1, 5)), Explicit((2**32 - 1, 5))),
        ("float64", Explicit((-1e308, math.inf)), Explicit((-3.4028234663852886e38, math.inf))),
        ("float64", Special(1), Special(1)),
        ("int32", Constant(2**40), Constant(2**40)),
    ],
)
def test_elements_beyond_a_narrow_dtype_become_its_limits(
    dtype: str, fill: Fill, narrow: Fill
) -> None:
    call = ApiCall(
        api=REDUCE.api, kind=CallKind.FUNCTION, arguments=(TensorValue(dtype, (2,), fill),)
    )

    (value,) = narrowed(call).arguments

    assert isinstance(value, TensorValue)
    assert value.fill == narrow


def test_dtype_arguments_and_lists_are_narrowed_too() -> None:
    stack = record(
        {"name": "xs", "schema_type": "list(Tensor)"},
        {"name": "dtype", "schema_type": "ScalarType", "required": False, "default": "None"},
    )
    level = ComparedLevel([stack], 3)
    found = [call for number in range(3) for call in calls(level.visit(stack.api, number))]

    names = [
        value.name for call in found for _, value in call.keywords if isinstance(value, DtypeValue)
    ]
    elements = [
        item.dtype
        for call in found
        for value in call.arguments
        if isinstance(value, ListValue)
        for item in value.items
        if isinstance(item, TensorValue)
    ]
    for drawn in (names, elements):
        assert drawn
        assert sum("64" in name for name in drawn) < len(drawn) / 2
