"""The battery runs every layer alone, on inputs and arguments that mutants rarely have."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from model_examples import returned
from model_graphs import MODELS

from ciguard.campaign.lookup import shipped_knowledge
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.models import Check, ModelCase
from ciguard.domain.records import record_from_json
from ciguard.domain.values import ArrayValue, Explicit
from ciguard.levels.model.arguments import LayerArguments
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


def test_layers_of_sequences_run_on_masked_steps(cases: list[ModelCase]) -> None:
    masked = [case for case in of_layer(cases, "LSTM") if case.graph.masks]
    makers = {
        (case.graph.masks[0].layer, case.graph.masks[0].config.get("mask_zero")) for case in masked
    }

    assert makers == {("keras.layers.Masking", None), ("keras.layers.Embedding", True)}
    assert {case.check for case in masked} == {Check.PREDICT, Check.TRAIN}
    assert {case.graph.nodes[-1].config["return_sequences"] for case in masked[:-1]} == {
        False,
        True,
    }
    assert all(case.is_one_layer for case in masked)
    masked_steps = {
        tuple(tuple(steps) for steps in np.all(elements_of(case) == 0, axis=-1))
        for case in masked
        if case.graph.masks[0].layer == "keras.layers.Masking"
    }
    none, whole = (False,) * 9, (True,) * 9
    assert (none, whole) in masked_steps
    partly = next(rows for rows in masked_steps if len(rows) == 4)
    assert partly[0] == none
    assert [(row[0], row[-1]) for row in partly[1:]] == [
        (False, True),
        (True, False),
        (False, False),
    ]
    assert all(any(row) for row in partly[1:])


def test_masks_are_made_for_each_input_of_attention(cases: list[ModelCase]) -> None:
    masked = [case for case in of_layer(cases, "MultiHeadAttention") if case.graph.masks]

    assert {len(case.graph.masks) for case in masked} == {2}
    assert {case.graph.nodes[-1].inputs for case in masked} == {("mask_x0", "mask_x1")}


def test_convolutions_and_images_get_no_masks(cases: list[ModelCase]) -> None:
    layers = {layer_of(case).removeprefix("keras.layers.") for case in cases if case.graph.masks}

    assert not layers & {"Conv1D", "MaxPooling2D", "Dropout", "Masking", "Embedding"}
    assert {"GRU", "Attention", "GlobalAveragePooling1D", "BatchNormalization", "Add"} <= layers


def test_layers_run_in_double_precision_on_double_inputs(cases: list[ModelCase]) -> None:
    double = [case for case in cases if case.dtype == "float64"]

    assert {layer_of(case) for case in double} >= {"keras.layers.Dense", "keras.layers.GRU"}
    arrays = [value for case in double for value in case.values if isinstance(value, ArrayValue)]
    assert {array.dtype for array in arrays} == {"float64"}


def test_recurrent_layers_without_dropout_are_trained(cases: list[ModelCase]) -> None:
    trained = [case for case in cases if case.check is Check.TRAIN]

    assert {"keras.layers.LSTM", "keras.layers.MultiHeadAttention"} <= set(map(layer_of, trained))
    assert not any(layer_of(case) == "keras.layers.Dropout" for case in trained)


def elements_of(case: ModelCase) -> Any:
    (data,) = case.values
    assert isinstance(data, ArrayValue)
    assert isinstance(data.fill, Explicit)
    return np.array(data.fill.data).reshape(data.shape)


def test_cases_survive_their_json_form_and_name_their_origin(cases: list[ModelCase]) -> None:
    kept = [*cases[:5], *(case for case in cases if case.graph.masks)]
    assert [case_from_json(case_to_json(case)) for case in kept] == kept
    assert origin_text(cases[0]) == "the layer alone, as part of the battery of all layers"


def test_three_of_four_batches_belong_to_the_battery_until_it_ends(cases: list[ModelCase]) -> None:
    level = ModelLevel((), 5, models=MODELS, battery=cases[:18])
    first = len(MODELS)

    batches = [level.cases(first + number).cases for number in range(7)]

    assert [batches[place] for place in (0, 1, 2)] == [
        tuple(cases[:4]), tuple(cases[4:8]), tuple(cases[8:12])
    ]  # fmt: skip
    assert [batches[place] for place in (4, 5)] == [tuple(cases[12:16]), tuple(cases[16:18])]
    assert not any(case in cases[:18] for number in (3, 6) for case in batches[number])
    answers = {name: [returned({})] * 4 for name in ("one", "two")}
    assert level.feedback(first, level.cases(first), answers) is None


def test_infinities_and_huge_numbers_are_apart(cases: list[ModelCase]) -> None:
    contents = [
        case.data[0].fill.data
        for case in of_layer(cases, "Softmax")
        if isinstance(case.data[0], ArrayValue) and isinstance(case.data[0].fill, Explicit)
    ]

    assert any(math.inf in data for data in contents)
    assert any(3e38 in data for data in contents)
    assert not any(math.inf in data and 3e38 in data for data in contents)


def test_convolutions_are_dilated_and_grouped(cases: list[ModelCase]) -> None:
    configs = [case.graph.nodes[-1].config for case in of_layer(cases, "Conv2D")]

    assert {(2, 1), (3, 1), (2, 2)} <= {
        (config.get("dilation_rate"), config.get("strides")) for config in configs
    }
    assert any(config.get("groups") == 2 for config in configs)
    assert not any(
        "dilation_rate" in case.graph.nodes[-1].config for case in of_layer(cases, "Dense")
    )


def test_switches_are_tried_whatever_the_shape(cases: list[ModelCase]) -> None:
    configs = [case.graph.nodes[-1].config for case in cases]

    assert {True, False} <= {config.get("return_sequences") for config in configs}
    assert not any("return_state" in config or "kwargs" in config for config in configs)


def test_data_formats_and_switches_are_read_from_the_documentation() -> None:
    pooling = next(kind for kind in Universe.of(()).kinds if kind.name == "MaxPooling2D")
    doc = 'data_format: string, either `"channels_last"` or `"channels_first"`.'
    record = record_from_json(
        {
            "api": pooling.public,
            "kind": "layer",
            "source": "signature",
            "parameters": [
                {"name": "pool_size", "default": "(2, 2)"},
                {"name": "data_format", "default": "None", "required": False, "doc": doc},
                {"name": "name", "default": "None", "required": False},
            ],
        }
    )

    switches = LayerArguments([record]).switches(pooling)

    assert switches == {"data_format": ("channels_last", "channels_first")}


def test_layers_run_in_half_precision_on_unit_dimensions_and_as_in_training(
    cases: list[ModelCase],
) -> None:
    own = of_layer(cases, "LayerNormalization")

    assert {"", "float16", "bfloat16", "float64"} == {case.dtype for case in own}
    assert any(set(case.data[0].shape[1:]) == {1} for case in own)
    assert any(case.training and case.check is Check.PREDICT for case in own)
    assert not any(case.training for case in of_layer(cases, "Dropout"))
