from __future__ import annotations

import pytest
from constraint_examples import constraints, scope_with, scopes
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from ciguard.domain.values import Constant, LiteralValue, TensorValue
from ciguard.values import Constraint, Int, Tensor, compile_strategy
from ciguard.values.check import problem


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), constraints, scopes)
def test_strategy_draws_conforming_values(
    data: st.DataObject, constraint: Constraint, x: TensorValue | None
) -> None:
    value = data.draw(compile_strategy(constraint, scope_with(x)))

    assert problem(value, constraint, scope_with(x)) == ""


def test_strategy_shrinks_to_the_smallest_failing_value() -> None:
    strategy = compile_strategy(Int(min=0, max=1000))

    smallest = find(strategy, lambda v: isinstance(v, LiteralValue) and v.value >= 17)  # type: ignore[operator]

    assert smallest == LiteralValue(17)


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(None, None, 0), (-2, 3, 0), (1, 3, 1), (-5, -2, -2)]
)
@pytest.mark.lengthy
def test_elements_shrink_to_the_number_closest_to_zero(
    low: float | None, high: float | None, expected: float
) -> None:
    strategy = compile_strategy(Tensor(dtypes=("float32",), shape=(2, 2), low=low, high=high))

    assert find(strategy, lambda _: True) == TensorValue("float32", (2, 2), Constant(expected))


def test_shapes_shrink() -> None:
    strategy = compile_strategy(Tensor(dtypes=("float32",), ndim=(0, 4)))

    smallest = find(strategy, lambda v: isinstance(v, TensorValue) and len(v.shape) >= 2)

    assert isinstance(smallest, TensorValue)
    assert smallest.shape == (1, 1)


def test_compile_strategy_of_another_object_raises() -> None:
    with pytest.raises(TypeError, match="is not a value constraint"):
        compile_strategy(object())  # type: ignore[arg-type]
