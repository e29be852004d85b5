"""Calls near a case: others, distinct, repeatable, of the same API."""

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
def test_neighbours_are_other_distinct_calls_of_the_api_and_repeatable(case: ApiCall) -> None:
    found = neighbours(case, 12, seed=3)

    names = [case_id(other) for other in found]
    assert len(set(names)) == len(names) <= 12
    assert case_id(case) not in names
    assert {as_call(other).api for other in found} == {case.api}
    assert [case_id(other) for other in neighbours(case, 12, seed=3)] == names
    assert all(case_from_json(case_to_json(other)) == other for other in found)


@given(VALUES)
def test_a_call_with_an_argument_has_as_many_as_are_asked_for(value: Value) -> None:
    assert len(neighbours(call(value), 40, seed=1)) == 40


def test_tensors_get_other_shapes_types_and_elements_that_can_be_made() -> None:
    tensor = TensorValue("float32", (2, 3), Uniform(1, 0.0, 1.0))

    found = neighbours(call(tensor), 200, seed=5)

    tensors = [value for other in found for value in as_call(other).arguments]
    assert all(isinstance(value, TensorValue) for value in tensors)
    made = [value for value in tensors if isinstance(value, TensorValue)]
    assert len({value.shape for value in made}) > 5
    assert len({value.dtype for value in made}) > 5
    for value in made:
        assert content(value).shape == value.shape


def test_a_program_has_its_simpler_variants_and_other_seeds() -> None:
    found = neighbours(positive(), 5, seed=1)

    assert found
    assert all(type(other) is type(positive()) for other in found)


@pytest.mark.parametrize("most", [0, 1])
def test_no_more_come_than_are_asked_for(most: int) -> None:
    assert len(neighbours(call(LiteralValue(4)), most, seed=1)) == most


def test_an_application_has_none() -> None:
    case = AppCase(api="app.py:main", file="app.py", root=".", aspect=Aspect.ANSWER)

    assert neighbours(case, 5, seed=1) == []
