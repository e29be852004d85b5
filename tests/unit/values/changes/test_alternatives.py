from __future__ import annotations

import math
from itertools import chain

import pytest

from ciguard.domain import dtypes
from ciguard.domain.values import (
    ArrayValue,
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.values.changes.alternatives import (
    alternatives,
    at_limits,
    joint_dtypes,
    joint_sizes,
    of_further_kinds,
    own_dtypes,
)

TENSOR = TensorValue("float32", (2, 3), Uniform(1, 0.0, 1.0))
INDICES = TensorValue("uint8", (3,), Explicit((0, 1, 2)))
ONE, TWO, THREE = map(LiteralValue, (1, 2, 3))


@pytest.mark.parametrize(
    "value",
    [TENSOR, ONE, LiteralValue(None), LiteralValue("same"), LiteralValue(0.5), ListValue((ONE,))],
)
def test_other_kinds_are_all_kinds_but_that_of_the_value(value: Value) -> None:
    every = chain(*alternatives({"x": value}, {}), *of_further_kinds({"x": value}, {}))
    others = {kind(change["x"]) for change in every}

    every_kind = {type(None), str, int, float, bool, ListValue, DtypeValue, TensorValue}
    assert others | {kind(value)} >= every_kind
    of_its_kind = [other["x"] for other in chain(*of_further_kinds({"x": value}, {}))]
    assert kind(value) not in map(kind, of_its_kind)


def test_none_and_a_text_precede_the_limits_of_a_value_and_further_kinds_follow_all() -> None:
    columns = [[change["x"] for change in column] for column in alternatives({"x": ONE}, {})]

    assert columns[3] == [LiteralValue(None), LiteralValue("mean")]
    assert columns[4] == list(at_limits(ONE))
    further = {kind(change["x"]) for change in chain(*of_further_kinds({"x": ONE}, {}))}
    assert further == {float, bool, ListValue, DtypeValue, TensorValue}


def kind(value: Value) -> type:
    return type(value.value) if isinstance(value, LiteralValue) else type(value)


def test_a_tensor_is_emptied_in_each_dimension_and_gets_other_ranks() -> None:
    shapes = {value.shape for value in at_limits(TENSOR) if isinstance(value, TensorValue)}

    unusual = {(1,) * 7 + (2, 3), (2**31, 0)}
    assert shapes == {(2, 3), (0, 3), (2, 0), (3,), (1, 2, 3), (), (0,), *unusual}


def test_elements_are_at_the_ends_of_the_range() -> None:
    fills = [value.fill for value in at_limits(INDICES) if isinstance(value, TensorValue)]

    assert [fill.value for fill in fills if isinstance(fill, Constant)] == [0, 255]
    floats = [value.fill for value in at_limits(TENSOR) if isinstance(value, TensorValue)]
    assert any(isinstance(fill, Constant) and math.isnan(fill.value) for fill in floats)


def test_a_list_of_integers_gets_other_lengths_and_unusual_integers() -> None:
    limits = at_limits(TupleValue((TWO, THREE)))
    others = [value.items for value in limits if isinstance(value, TupleValue)]

    assert {(), (TWO,), (TWO, THREE, THREE)} <= set(others)
    assert {(LiteralValue(0), THREE), (LiteralValue(0), LiteralValue(0))} <= set(others)
    assert {(LiteralValue(-1), THREE), (LiteralValue(2**63 - 1),) * 2} <= set(others)


def test_a_list_of_tensors_gets_other_lengths_only() -> None:
    others = at_limits(ListValue((TENSOR, TENSOR)))

    assert [len(value.items) for value in others if isinstance(value, ListValue)] == [0, 1, 3]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (LiteralValue(value=True), [False]),
        (LiteralValue(5), [0, -1, 2**63 - 1, 1, -(2**63)]),
        (LiteralValue("sum"), [""]),
        (LiteralValue(None), []),
    ],
)
def test_scalars_get_the_limits_of_their_type(value: LiteralValue, expected: list[object]) -> None:
    assert [v.value for v in at_limits(value) if isinstance(v, LiteralValue)] == expected


def test_a_dtype_gets_each_number_type() -> None:
    names = [v.name for v in at_limits(DtypeValue("bool")) if isinstance(v, DtypeValue)]

    assert names == list(dtypes.NUMERIC)


def test_joint_dtypes_change_all_tensors_of_one_dtype() -> None:
    values: dict[str, Value] = {"x": TENSOR, "y": ListValue((TENSOR,)), "n": ONE}

    changed = list(joint_dtypes(values))

    assert len(changed) == len(dtypes.EVERY) - 1
    for other in changed:
        x, y = other["x"], other["y"]
        assert isinstance(x, TensorValue)
        assert isinstance(y, ListValue)
        assert y.items == (x,)
        assert (x.shape, x.fill) == (TENSOR.shape, TENSOR.fill)
        assert other["n"] is ONE
    assert {
        value.dtype for value in [o["x"] for o in changed] if isinstance(value, TensorValue)
    } == {*dtypes.EVERY} - {"float32"}


def test_one_of_several_tensors_of_a_dtype_gets_that_of_another_width() -> None:
    sizes = ArrayValue("int64", (2,), Constant(1))
    values: dict[str, Value] = {"x": TENSOR, "y": TENSOR, "sizes": sizes, "n": ONE}

    changed = list(own_dtypes(values))

    wide = TensorValue("float64", TENSOR.shape, TENSOR.fill)
    assert changed == [{**values, "x": wide}, {**values, "y": wide}]


def test_joint_sizes_change_all_dimensions_of_one_size_and_all_tensors_of_one_rank() -> None:
    array = ArrayValue("int64", (3,), Constant(1))

    shapes = [
        tuple(v.shape for v in changed.values() if isinstance(v, TensorValue | ArrayValue))
        for changed in joint_sizes({"x": TENSOR, "y": array})
    ]

    assert shapes == [
        ((0, 3), (3,)), ((1, 3), (3,)), ((2, 0), (0,)), ((2, 1), (1,)),
        ((3,), (3,)), ((1, 2, 3), (3,)), ((2, 3), ()), ((2, 3), (1, 3)),
    ]  # fmt: skip


def test_arguments_without_tensors_have_no_joint_changes() -> None:
    assert list(joint_dtypes({"n": ONE})) == []
    assert list(joint_sizes({"n": ONE})) == []
