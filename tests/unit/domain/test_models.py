"""Layer graphs and model cases: JSON round trips and validation."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.case import case_to_json
from ciguard.domain.models import (
    INPUT,
    Check,
    DataSample,
    GraphOrigin,
    LayerGraph,
    LayerNode,
    ModelCase,
    SampleKind,
    WeightEdit,
    WeightRule,
    Weights,
    graph_from_json,
    graph_to_json,
    model_case_from_json,
)
from ciguard.domain.values import ArrayValue, Constant

IMAGE = LayerNode(name="x", layer=INPUT, shape=(8, 8, 1))
FLAT = LayerNode(name="flat", layer="keras.layers.Flatten", inputs=("x",), shape=(64,))
DENSE = LayerNode(
    name="dense",
    layer="keras.layers.Dense",
    config={"units": 10, "activation": "softmax"},
    inputs=("flat",),
    shape=(10,),
    weights=Weights(seed=3, edits=(WeightEdit(WeightRule.SWITCH, 7),)),
)
GRAPH = LayerGraph(nodes=(IMAGE, FLAT, DENSE), outputs=("dense",))
CASE = ModelCase(
    api="keras.Model",
    graph=GRAPH,
    data=(DataSample(SampleKind.DIGITS, 1, (4, 8, 8, 1)),),
    truth=ArrayValue("float32", (4, 10), Constant(0.1)),
)


def through_json(case: ModelCase) -> ModelCase:
    text = json.dumps(case_to_json(case), allow_nan=False)
    return model_case_from_json(json.loads(text))


@given(
    st.builds(
        replace,
        st.just(CASE),
        api=st.text(),
        check=st.sampled_from(Check),
        training=st.booleans(),
        dtype=st.sampled_from(["", "float64"]),
        nudge=st.integers(),
        probe=st.sampled_from(["", "dense"]),
        seed=st.integers(),
        data=st.lists(st.sampled_from([*CASE.data, CASE.truth]), max_size=2).map(tuple),
        origin=st.builds(
            GraphOrigin,
            model=st.text(),
            mutations=st.lists(st.text()).map(tuple),
            deviations=st.lists(st.tuples(st.text(), st.floats(allow_nan=False))).map(tuple),
            suspect=st.text(),
        ),
    )
)
def test_model_case_round_trips_through_json(case: ModelCase) -> None:
    assert through_json(case) == case


@pytest.mark.parametrize(
    "node",
    [
        replace(DENSE, shares="flat"),
        replace(DENSE, as_list=True, dtype="float64"),
        replace(DENSE, weights=Weights(file="a.keras", stored="dense_3")),
    ],
)
def test_layer_node_round_trips_through_json(node: LayerNode) -> None:
    graph = replace(GRAPH, nodes=(IMAGE, FLAT, node))

    assert graph_from_json(graph_to_json(graph)) == graph


def test_encoded_node_has_all_fields() -> None:
    written = graph_to_json(LayerGraph(nodes=(IMAGE, FLAT, FULL), outputs=("dense",)))["nodes"][-1]

    assert written.keys() == {item.name for item in fields(LayerNode)}


FULL = replace(DENSE, as_list=True, dtype="float64", shares="flat")


@pytest.mark.parametrize(
    ("nodes", "outputs", "message"),
    [
        ((IMAGE, IMAGE), ("x",), "two nodes"),
        ((FLAT, IMAGE), ("flat",), "precedes"),
        ((IMAGE, replace(FLAT, shares="dense")), ("flat",), "precedes"),
        ((IMAGE,), (), "an output"),
        ((IMAGE,), ("y",), "an output"),
    ],
)
def test_graph_from_json_with_an_inconsistent_graph_raises(
    nodes: tuple[LayerNode, ...], outputs: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        graph_from_json(graph_to_json(LayerGraph(nodes=nodes, outputs=outputs)))


@pytest.mark.parametrize("encoded", [None, [], {}, ["a", "model"], ["a", "model", {}], "text", 3])
def test_model_case_from_json_with_malformed_json_raises(encoded: object) -> None:
    with pytest.raises(ValueError, match="malformed"):
        model_case_from_json(encoded)


def test_model_case_from_json_with_a_float_overflow_raises() -> None:
    api, kind, rest = case_to_json(CASE)
    rest["origin"] = {"deviations": [["dense", 10**400]]}

    with pytest.raises(ValueError, match="malformed model case"):
        model_case_from_json([api, kind, rest])


def test_graph_returns_nodes_by_name_and_inputs() -> None:
    assert GRAPH.node("flat") is FLAT
    assert GRAPH.inputs == (IMAGE,)
    with pytest.raises(KeyError):
        GRAPH.node("none")
