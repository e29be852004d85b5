"""Scripts of layer graphs: they need only Keras and numpy, and compute the same numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from model_examples import ALONE, MODEL, alone, returned

from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.models import (
    MASKING,
    ONE_LAYER,
    Check,
    DataSample,
    LayerGraph,
    LayerNode,
    ModelCase,
    SampleKind,
    WeightEdit,
    WeightRule,
    Weights,
)
from ciguard.execution.worker.layer_weights import arrays
from ciguard.execution.worker.samples import sample
from ciguard.levels.model.run_source import comparable_outcome
from ciguard.triage import EnvironmentHint, script

RIGHT = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
HINT = EnvironmentHint(install=("keras==3.15.1", "torch"), variables=(("KERAS_BACKEND", "torch"),))
EDITED = Weights(seed=5, edits=(WeightEdit(WeightRule.SWITCH, 3),))


def with_weights(case: ModelCase, weights: Weights) -> ModelCase:
    nodes = tuple(
        replace(node, weights=weights) if node.inputs else node for node in case.graph.nodes
    )
    return replace(case, graph=replace(case.graph, nodes=nodes))


def text_of(case: ModelCase, oracle: str = "differential") -> str:
    gradient = {"shape": [1], "dtype": "float32", "sample": np.ones(3, np.float32)}
    outcome = alone(RIGHT)
    if case.check is Check.TRAIN:
        result = {"loss": np.float32(1), "gradients": {"layer/kernel": gradient}, "inputs": {}}
        outcome = returned(result)
    scope_items = Finding(
        oracle=oracle,
        kind="values",
        severity=Severity.HIGH,
        library="keras",
        api=case.api,
        case=case,
        outcomes={"torch": outcome, "jax": outcome},
        targets=("torch", "jax"),
        pair=PairKind.BACKEND if oracle == "differential" else PairKind.NONE,
        message="m",
    )
    return script(scope_items, environment_hint=HINT)


@pytest.mark.parametrize("check", Check)
@pytest.mark.parametrize("case", [ALONE, MODEL])
@pytest.mark.parametrize("weights", [Weights(plain=True), Weights(seed=4), EDITED])
def test_a_script_is_standalone(check: Check, case: ModelCase, weights: Weights) -> None:
    kind = "metamorphic" if check is Check.SAVE else "differential"

    text = text_of(replace(with_weights(case, weights), check=check), kind)

    compile(text, "script.py", "exec")
    assert not re.search(r"(from|import) ciguard", text)
    assert "import keras\n" in text


def test_plain_weights_need_a_few_lines_only() -> None:
    plain, seeded = (
        text_of(with_weights(MODEL, weights)) for weights in (Weights(plain=True), Weights(seed=1))
    )

    assert len(plain.splitlines()) < 150 < len(seeded.splitlines())


@pytest.mark.parametrize("layer", ["keras.layers.Softmax", "keras.layers.Dense"])
def test_the_prediction_of_one_layer_has_at_most_forty_lines(layer: str) -> None:
    *inputs, node = ALONE.graph.nodes
    graph = replace(ALONE.graph, nodes=(*inputs, replace(node, layer=layer)))
    text = text_of(with_weights(replace(ALONE, graph=graph), Weights(plain=True)))

    assert len(text.splitlines()) <= 40
    assert ("weight.assign" in text) == (layer == "keras.layers.Dense")
    assert "expected = [0.2" in text


def test_the_prediction_of_one_layer_makes_its_mask_first() -> None:
    *inputs, node = ALONE.graph.nodes
    mask = LayerNode(name="mask_x0", layer=MASKING, inputs=("x0",), shape=(3,))
    graph = replace(ALONE.graph, nodes=(*inputs, mask, replace(node, inputs=("mask_x0",))))
    text = text_of(with_weights(replace(ALONE, graph=graph), Weights(plain=True)))

    masking = text.index("    x0 = keras.layers.Masking()(x0)\n")
    assert text.index("    x0 = ") < masking < text.index("    result = layer(x0)\n")
    assert len(text.splitlines()) <= 40


def defined(text: str, *names: str) -> dict[str, Any]:
    """Run the definitions of a script, without Keras, and return those with the given names."""
    head, _, _ = text.partition("\nkeras.utils.set_random_seed")
    head = re.sub(r"^import keras$|^with suppress.*\n.*", "", head, flags=re.MULTILINE)
    scope: dict[str, Any] = {}
    exec(compile(head, "script.py", "exec"), scope)
    return {name: scope[name] for name in names}


def test_weights_and_data_are_those_of_the_run() -> None:
    pictures = {SampleKind.DIGITS, SampleKind.IMAGES}
    kinds = [(kind, (2, 6, 6, 1) if kind in pictures else (2, 6, 1)) for kind in SampleKind]
    described = [("kernel", (4, 3), "float32"), ("bias", (3,), "float32")]
    recipe = {"seed": 5, "edits": [["NS", 3]]}
    data = (DataSample(SampleKind.DIGITS, 1, (2, 4)),)
    text = text_of(with_weights(replace(MODEL, data=data), EDITED))

    scope_items = defined(text, "arrays", "sample")

    for expected, actual in zip(
        arrays("keras.layers.Dense", recipe, described),
        scope_items["arrays"]("keras.layers.Dense", recipe, described),
        strict=True,
    ):
        np.testing.assert_array_equal(expected, actual)
    for kind, shape in kinds:
        np.testing.assert_array_equal(
            sample(kind.value, 7, shape), scope_items["sample"](kind, 7, shape)
        )


def test_wrapped_layers_and_odd_argument_names_are_written() -> None:
    config = {"layer": {"layer": "keras.layers.LSTM", "config": {"units": 3}}, "merge_mode": "sum"}
    wrapped = LayerNode(
        name=ONE_LAYER,
        layer="keras.layers.Bidirectional",
        config=config,
        inputs=("x0",),
        shape=(3,),
        weights=Weights(plain=True),
    )
    graph = LayerGraph(nodes=(ALONE.graph.nodes[0], wrapped), outputs=(ONE_LAYER,))
    odd = replace(wrapped, config={"1'); import os": [True, None, "a\nb"]})

    text = text_of(replace(ALONE, api=wrapped.layer, graph=graph))
    hostile = text_of(replace(ALONE, graph=replace(graph, nodes=(ALONE.graph.nodes[0], odd))))

    assert "Bidirectional(layer=keras.layers.LSTM(units=3), merge_mode='sum')" in text
    compile(hostile, "script.py", "exec")
    assert "**{\"1'); import os\": [True, None, 'a\\nb']}" in hostile


def test_an_invalid_name_is_an_error() -> None:
    node = replace(ALONE.graph.nodes[1], layer="print(1)#")

    with pytest.raises(ValueError, match="dotted name"):
        text_of(replace(ALONE, graph=replace(ALONE.graph, nodes=(ALONE.graph.nodes[0], node))))


def test_only_parts_that_a_script_recomputes_are_compared() -> None:
    both = returned({"outputs": [np.array(RIGHT)], "layers": {"a": {"sample": np.ones(2)}}})
    damaged = replace(both, encoded=b'["M"]')

    assert b"layers" not in comparable_outcome(ALONE, both).encoded  # type: ignore[union-attr]
    assert comparable_outcome(ALONE, damaged) is damaged
