from __future__ import annotations

import random

from api_records import ADD_METHOD, CONV2D_OP, SUM

from ciguard.domain import (
    ApiCall,
    ApiRecord,
    CallValue,
    LiteralValue,
    TensorValue,
    Uniform,
    Value,
    value_from_json,
    value_to_json,
)
from ciguard.levels import ApiLevel
from ciguard.levels.api.layouts import layout_mutator
from ciguard.values import Scope

PLAIN = TensorValue("float32", (2, 3), Uniform(0, 0.0, 1.0))


def _calls(record: ApiRecord) -> list[ApiCall]:
    level = ApiLevel((record,), 0)
    return [case for index in range(60) for case in level.cases(index).cases]


def _made(current: Value) -> list[Value]:
    mutate = layout_mutator("torch.sum")
    assert mutate is not None
    rng = random.Random(0)  # noqa: S311 - a test
    return [mutate(rng, Scope(), current) for _ in range(200)]


def test_a_tensor_is_handed_to_functions_that_give_it_another_layout() -> None:
    made = _made(PLAIN)

    functions = {value.function for value in made if isinstance(value, CallValue)}
    assert len(functions) > 5
    assert all(repr(PLAIN) in repr(value) for value in made)


def test_odd_layouts_have_a_json_form() -> None:
    for value in _made(PLAIN):
        assert repr(value_from_json(value_to_json(value))) == repr(value)


def test_what_is_no_tensor_keeps_its_form() -> None:
    assert set(map(repr, _made(LiteralValue(3)))) == {repr(LiteralValue(3))}


def test_a_library_without_odd_layouts_has_no_mutator() -> None:
    assert layout_mutator("tensorflow.raw_ops.Relu") is None
    assert not any("to_sparse" in repr(call) for call in _calls(CONV2D_OP))


def test_functions_and_methods_meet_odd_layouts_now_and_then() -> None:
    for record in (SUM, ADD_METHOD):
        odd = [call for call in _calls(record) if "to_sparse" in repr(call)]
        assert 0 < len(odd) < 0.2 * len(_calls(record))
