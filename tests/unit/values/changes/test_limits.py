from __future__ import annotations

from itertools import chain
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.values import Constant, LiteralValue, TensorValue, Uniform, Value
from ciguard.values.changes import limits
from ciguard.values.changes.limits import beyond_int32

MATRIX = TensorValue("float32", (2, 3), Uniform(1, 0.0, 1.0))
INDICES = TensorValue("int64", (3,), Uniform(1, 0, 2))
VALUES: dict[str, Value] = {"x": MATRIX, "indices": INDICES, "count": LiteralValue(4)}


def changed(name: str) -> list[Value]:
    """Return the values of a parameter in the calls in which it alone differs."""
    calls = chain.from_iterable(limits(VALUES, {}))
    return [call[name] for call in calls if [n for n in VALUES if call[n] != VALUES[n]] == [name]]


def test_every_change_is_of_one_argument_or_of_a_size_that_tensors_share() -> None:
    for call in chain.from_iterable(limits(VALUES, {})):
        differing = [name for name in VALUES if call[name] != VALUES[name]]
        assert len(differing) == 1 or differing == ["x", "indices"]


def test_columns_keep_their_argument_when_they_are_read_in_turn() -> None:
    columns = [list(column) for column in limits(VALUES, {})]
    in_turn = [next(column) for column in limits(VALUES, {})]

    assert in_turn == [column[0] for column in columns]


def test_a_number_goes_to_both_ends_of_32_and_of_64_bits() -> None:
    numbers = {value.value for value in changed("count") if isinstance(value, LiteralValue)}

    assert {2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 0, -1} <= numbers


def test_indices_go_to_both_ends_of_64_bits_and_beyond_those_of_32() -> None:
    fills = [value.fill for value in changed("indices") if isinstance(value, TensorValue)]

    assert {Constant(2**63 - 1), Constant(-(2**63)), Constant(2**31 - 1)} <= set(fills)


def test_a_further_parameter_is_added_at_its_limits() -> None:
    calls = list(chain.from_iterable(limits(VALUES, {"axis": LiteralValue(1)})))

    assert {"x", "indices", "count", "axis"} in [set(call) for call in calls]
    assert LiteralValue(-(2**63)) in [call.get("axis") for call in calls]


@given(shape=st.lists(st.integers(0, 5), max_size=6).map(tuple))
def test_a_tensor_with_a_huge_dimension_has_no_elements(shape: tuple[int, ...]) -> None:
    for value in beyond_int32(TensorValue("float32", shape, Constant(0))):
        assert isinstance(value, TensorValue)
        assert len(value.shape) == len(shape)
        assert max(value.shape) >= 2**31
        assert prod(value.shape) == 0


@pytest.mark.parametrize("value", [LiteralValue(value=True), LiteralValue("a"), LiteralValue(0.5)])
def test_a_value_without_an_integer_has_no_larger_one(value: Value) -> None:
    assert not list(beyond_int32(value))
