from __future__ import annotations

from math import isnan, prod
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain import dtypes
from ciguard.domain.values import Explicit, ListValue, LiteralValue, TensorValue, Uniform, Value
from ciguard.values.changes import change_contents

AXIS = LiteralValue(3)
tensors = st.builds(
    TensorValue,
    st.sampled_from([*dtypes.FLOATING, *dtypes.INTEGERS, "bool"]),
    st.lists(st.integers(1, 3), max_size=3).map(tuple),
    st.just(Uniform(1, 0.0, 1.0)),
)


def drawn(seed: int, value: Value) -> Value:
    values = {"x": value, "axis": AXIS}
    change_contents(Random(seed), values)
    return values["x"]


@given(st.integers(0, 2**32), tensors)
def test_only_elements_change_and_fit_the_dtype(seed: int, tensor: TensorValue) -> None:
    values: dict[str, Value] = {"x": tensor, "axis": AXIS}

    names = change_contents(Random(seed), values)

    changed = values["x"]
    assert names == ("x",)
    assert values["axis"] is AXIS
    assert isinstance(changed, TensorValue)
    assert (changed.dtype, changed.shape) == (tensor.dtype, tensor.shape)
    assert isinstance(changed.fill, Explicit)
    assert len(changed.fill.data) == prod(tensor.shape)
    if tensor.dtype in dtypes.INTEGERS:
        minimum, maximum = dtypes.integer_range(tensor.dtype)
        assert all(minimum <= element <= maximum for element in changed.fill.data)


@pytest.mark.parametrize(
    "value",
    [
        AXIS,
        TensorValue("float32", (0, 3), Uniform(1, 0.0, 1.0)),
        TensorValue("float32", (64, 64), Uniform(1, 0.0, 1.0)),
        TensorValue("string", (2,), Uniform(1, 0.0, 1.0)),
    ],
    ids=["number", "empty", "large", "texts"],
)
def test_values_without_elements_to_replace_stay(value: Value) -> None:
    values: dict[str, Value] = {"x": value}

    assert change_contents(Random(0), values) == ()
    assert values == {"x": value}


def test_floats_become_nan_infinite_tied_and_rising() -> None:
    tensor = TensorValue("float32", (5,), Uniform(1, -1.0, 1.0))

    contents = {drawn(seed, tensor).fill.data for seed in range(200)}  # type: ignore[union-attr]
    ties = [data for data in contents if set(data) == {1.0, -1.0, 0.0}]

    assert any(sum(map(isnan, data)) == 1 for data in contents)
    assert any(float("-inf") in data for data in contents)
    assert any(data == (0.0, 0.25, 0.5, 0.75, 1.0) for data in contents)
    assert any(data.count(1.0) > 1 for data in ties)
    assert any(set(data) <= {0.5, 1.5, 2.5, -0.5, -1.5, -2.5} for data in contents)


def test_numbers_go_through_the_contents_of_each_parameter() -> None:
    tensor = TensorValue("float32", (5,), Uniform(1, -1.0, 1.0))

    found = []
    for number in range(16):
        values: dict[str, Value] = {"x": tensor, "axis": AXIS, "y": tensor}
        names = change_contents(Random(0), values, number)
        found.append((names, str(values)))

    assert [names for names, _ in found] == [("x",), ("y",)] * 8
    assert len({text for _, text in found}) == 16  # each of eight kinds, for each of two


def test_integers_reach_zero_and_indices_out_of_range() -> None:
    tensor = TensorValue("int32", (3,), Explicit((1, 1, 1)))

    elements = {
        element
        for seed in range(300)
        for element in drawn(seed, tensor).fill.data  # type: ignore[union-attr]
    }

    assert {0, -1, 3, 4, 2**31 - 1, -(2**31)} <= elements


def test_tensors_in_lists_change_together() -> None:
    tensor = TensorValue("bool", (2,), Uniform(1, 0.0, 1.0))

    changed = drawn(0, ListValue((tensor, AXIS, tensor)))

    assert isinstance(changed, ListValue)
    first, axis, second = changed.items
    assert axis is AXIS
    assert all(isinstance(item.fill, Explicit) for item in (first, second))  # type: ignore[union-attr]
