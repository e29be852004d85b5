"""Similar calls of a case: distinct, repeatable and of the same API."""

from __future__ import annotations

import pytest
from call_strategies import CASES, VALUES
from finding_examples import call
from hypothesis import given
from program_examples import positive

from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.case import case_from_json, case_id, case_to_json
from ciguard.domain.values import LiteralValue, TensorValue, Uniform, Value
from ciguard.triage import neighbours
from ciguard.writing import content


@given(CASES)
def test_neighbours_are_distinct_repeatable_calls_of_the_same_api(case: ApiCall) -> None:
    cases = neighbours(case, 12, seed=3)

    names = [case_id(other) for other in cases]
    assert len(set(names)) == len(names) <= 12
    assert case_id(case) not in names
    assert {as_call(other).api for other in cases} == {case.api}
    assert [case_id(other) for other in neighbours(case, 12, seed=3)] == names
    assert all(case_from_json(case_to_json(other)) == other for other in cases)


@given(VALUES)
def test_neighbours_of_a_call_with_an_argument_reach_the_requested_number(value: Value) -> None:
    assert len(neighbours(call(value), 40, seed=1)) == 40


def test_neighbours_vary_shapes_and_dtypes_of_tensors_validly() -> None:
    tensor = TensorValue("float32", (2, 3), Uniform(1, 0.0, 1.0))

    cases = neighbours(call(tensor), 200, seed=5)

    tensors = [value for other in cases for value in as_call(other).arguments]
    assert all(isinstance(value, TensorValue) for value in tensors)
    changed = [value for value in tensors if isinstance(value, TensorValue)]
    assert len({value.shape for value in changed}) > 5
    assert len({value.dtype for value in changed}) > 5
    for value in changed:
        assert content(value).shape == value.shape


def test_neighbours_of_a_program_are_programs() -> None:
    cases = neighbours(positive(), 5, seed=1)

    assert cases
    assert all(type(other) is type(positive()) for other in cases)


@pytest.mark.parametrize("most", [0, 1])
def test_neighbours_are_limited_to_the_requested_number(most: int) -> None:
    assert len(neighbours(call(LiteralValue(4)), most, seed=1)) == most


def test_neighbours_of_an_application_are_empty() -> None:
    case = AppCase(api="app.py:main", file="app.py", root=".", aspect=Aspect.ANSWER)

    assert neighbours(case, 5, seed=1) == []
