"""Observed operators as models for the calls of undocumented APIs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from ciguard.domain.api_calls import as_call
from ciguard.domain.intent import Intent
from ciguard.domain.records import ApiRecord, record_from_json
from ciguard.domain.values import ListValue, LiteralValue, TensorValue, Uniform, Value
from ciguard.knowledge import Experience
from ciguard.levels.api.level import ApiLevel
from ciguard.levels.api.observed import ObservedOperators, is_operator

GRADIENT = TensorValue("float32", (2, 3, 7), Uniform(1, -1.0, 1.0))
ENCODED = ["t", "float32", [2, 3, 7], ["u", 1, -1.0, 1.0]]
CALL: dict[str, object] = {
    "self": ENCODED,
    "output_size": ["l", [7]],
    "input_size": ["l", [2, 3, 4]],
    "scales": None,
}


def operator(first: str = "self") -> ApiRecord:
    return record_from_json(
        {
            "api": f"torch.ops.aten.resize_backward_{first}",
            "kind": "function",
            "source": "schema",
            "operator": "aten::resize_backward",
            "parameters": [
                {"name": first, "schema_type": "Tensor"},
                {"name": "output_size", "schema_type": "int[]"},
                {"name": "input_size", "schema_type": "int[]"},
                {"name": "scales", "schema_type": "float?", "required": False, "default": "None"},
            ],
        }
    )


def observed(record: ApiRecord, *calls: dict[str, object]) -> list[dict[str, Value]]:
    operators = ObservedOperators([record])
    operators.note([("aten::resize_backward", call) for call in calls])
    return operators.experience.get(record.api, Experience()).observed


def sizes(*numbers: int) -> ListValue:
    return ListValue(tuple(map(LiteralValue, numbers)))


@pytest.mark.parametrize("first", ["self", "input"])
def test_a_call_of_the_operator_becomes_a_model_by_the_names_of_the_api(first: str) -> None:
    expected = {first: GRADIENT, "output_size": sizes(7), "input_size": sizes(2, 3, 4)}

    assert observed(operator(first), CALL, CALL) == [expected]


def test_calls_of_other_overloads_and_operators_are_left_out() -> None:
    incomplete = {name: value for name, value in CALL.items() if name != "input_size"}
    operators = ObservedOperators([operator()])
    operators.note([("aten::other", CALL)])

    assert observed(operator(), {**CALL, "mode": 1}, incomplete) == []
    assert operators.experience == {}


@pytest.mark.parametrize("value", [["?"], ["t"], {"a": 1}, ["t", "float32", None, ["k", 1]]])
def test_malformed_arguments_of_a_corrupted_worker_are_left_out(value: object) -> None:
    assert len(observed(operator(), {**CALL, "output_size": value}, CALL)) == 1


def test_a_documented_api_needs_no_models() -> None:
    assert is_operator(operator())
    assert not is_operator(replace(operator(), source="docstring"))
    assert not is_operator(replace(operator(), operator=""))


def test_calls_of_an_operator_resemble_the_observed_ones() -> None:
    record = operator()
    operators = ObservedOperators([record])
    operators.note([("aten::resize_backward", CALL)])
    level, unaware = ApiLevel([record], 0), ApiLevel([record], 0)
    level.recall(operators.experience)

    def fitting(level: ApiLevel) -> int:
        calls = [as_call(c) for number in range(6) for c in level.visit(record.api, number).cases]
        return sum(
            call.arguments[1:3] == (sizes(7), sizes(2, 3, 4))
            for call in calls
            if call.intent is not Intent.CONFORMING
        )

    assert fitting(level) > 20
    assert fitting(unaware) == 0


def test_the_observed_calls_are_the_same_in_every_run_and_conform() -> None:
    first, second = (list(ApiLevel([operator()], 3).calls_to_observe({})) for _ in range(2))

    assert first == second
    assert {call.intent for calls in first for call in calls[:8]} == {Intent.CONFORMING}
    assert list(ApiLevel([operator()], 3).observable) == [operator().api]


def test_models_are_kept_apart_from_examples_and_their_number_is_limited() -> None:
    experience = Experience()
    for number in range(100):
        experience.observe_operator({"x": LiteralValue(number)})
        experience.observe_operator({"x": TensorValue("float32", (10**6,), Uniform(1, 0.0, 1.0))})
    total = Experience()
    total.update(experience)

    assert total.observed == [{"x": LiteralValue(number)} for number in range(12)]
    assert total.examples == []
    assert Random(0).choice(total.models) in experience.observed
