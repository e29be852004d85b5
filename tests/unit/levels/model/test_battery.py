"""The battery runs every layer alone, on inputs and arguments that mutants rarely have."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from model_examples import returned
from model_graphs import MODELS

from ciguard.campaign.lookup import shipped_knowledge
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.models import Check, ModelCase
from ciguard.domain.values import ArrayValue, Explicit
from ciguard.levels.model.amplification import amplification
from ciguard.levels.model.battery import battery
from ciguard.levels.model.level import ModelLevel
from ciguard.levels.model.origin import origin_text
from ciguard.levels.model.universe import Universe


@pytest.fixture(scope="module")
def universe() -> Universe:
    known = shipped_knowledge("keras")
    assert known is not None
    return Universe.of(known.records.values())


@pytest.fixture(scope="module")
def cases(universe: Universe) -> list[ModelCase]:
    return battery(universe, 1)


def layer_of(case: ModelCase) -> str:
    return case.graph.nodes[-1].layer


def of_layer(cases: list[ModelCase], name: str) -> list[ModelCase]:
    return [case for case in cases if layer_of(case) == f"keras.layers.{name}"]


def test_the_battery_has_every_layer_and_runs_each_once_before_any_again(
    universe: Universe, cases: list[ModelCase]
) -> None:
    assert {layer_of(case) for case in cases} == {kind.public for kind in universe.kinds}
    first = [layer_of(case) for case in cases[:80]]
    assert max(Counter(first).values()) == 1


def test_a_layer_gets_one_kind_of_special_number_in_each_row(cases: list[ModelCase]) -> None:
    data = of_layer(cases, "Softmax")[0].data[0]

    assert isinstance(data, ArrayValue)
    assert isinstance(data.fill, Explicit)
    row = math.prod(data.shape[1:])
    first = [data.fill.data[start] for start in range(0, len(data.fill.data), row)]
    assert [str(number) for number in first[:3]] == ["nan", "inf", "-inf"]
    assert [math.copysign(1.0, number) for number in data.fill.data[3 * row : 3 * row + 2]] == [
        1,
        -1,
    ]


def test_windows_are_wider_than_those_of_models_and_move_by_three(cases: list[ModelCase]) -> None:
    configs = [case.graph.nodes[-1].config for case in of_layer(cases, "MaxPooling2D")]

    assert {(4, 3, "same"), (4, 3, "valid"), (5, 3, "same")} <= {
        (config.get("pool_size"), config.get("strides"), config.get("padding"))
        for config in configs
        if isinstance(config.get("pool_size"), int)
    }


def test_every_axis_and_value_is_tried_also_those_that_a_backend_rejects(
    cases: list[ModelCase],
) -> None:
    axes = {case.graph.nodes[-1].config.get("axis") for case in of_layer(cases, "Softmax")}
    resizing = {
        case.graph.nodes[-1].config.get("interpolation") for case in of_layer(cases, "Resizing")
    }

    assert {-1, -2, 1, 2} <= axes
    assert {"nearest", "bilinear", "lanczos3", "lanczos5"} <= resizing


def test_an_empty_batch_and_a_training_step_are_tried(cases: list[ModelCase]) -> None:
    dense = of_layer(cases, "Dense")

    assert any(case.data[0].shape[0] == 0 for case in dense)
    assert any(case.check is Check.TRAIN and case.training for case in dense)
    assert not any(case.check is Check.TRAIN for case in of_layer(cases, "Dropout"))


def test_cases_survive_their_json_form_and_name_their_origin(cases: list[ModelCase]) -> None:
    assert [case_from_json(case_to_json(case)) for case in cases[:5]] == cases[:5]
    assert origin_text(cases[0]) == "the layer alone, as part of the battery of all layers"


def test_batches_of_the_battery_and_of_mutants_alternate(cases: list[ModelCase]) -> None:
    level = ModelLevel((), 5, models=MODELS, amplification=amplification, battery=cases[:6])
    first = len(MODELS)

    batches = [level.cases(first + number).cases for number in range(5)]

    assert batches[0] == tuple(cases[:4])
    assert batches[2] == tuple(cases[4:6])
    assert not any(case in cases[:6] for number in (1, 3, 4) for case in batches[number])
    answers = {name: [returned({})] * 4 for name in ("one", "two")}
    assert level.feedback(first, level.cases(first), answers) is None
