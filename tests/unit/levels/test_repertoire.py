"""Repertoire: inserted chains are inserted elsewhere with new names and weights."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from model_graphs import MODELS

from ciguard.domain.models import LayerNode, Weights, graph_from_json, graph_to_json
from ciguard.levels.model.edits import Edge, insert_chain
from ciguard.levels.model.repertoire import Repertoire, as_chain, attach_chain
from ciguard.levels.model.rules.adding import add, add_many
from ciguard.levels.model.universe import Universe

SHAPE = (4, 4, 2)
SOURCE = LayerNode(name="conv", layer="keras.layers.Conv2D", shape=SHAPE)
WIDER = LayerNode(
    name="pad",
    layer="keras.layers.ZeroPadding2D",
    config={"padding": 1},
    inputs=("conv",),
    shape=(6, 6, 2),
    weights=Weights(seed=1),
)
BACK = LayerNode(
    name="crop",
    layer="keras.layers.Cropping2D",
    config={"cropping": 1},
    inputs=("pad",),
    shape=SHAPE,
    weights=Weights(seed=2),
)
SUM = LayerNode(
    name="add",
    layer="keras.layers.Add",
    inputs=("conv", "somewhere_else"),
    as_list=True,
    shape=SHAPE,
    weights=Weights(seed=3),
)


def test_a_chain_is_a_graph_of_one_input() -> None:
    chain = as_chain(SOURCE, [WIDER, BACK])
    (source,) = chain.inputs
    assert source.shape == SHAPE
    wider, back = chain.nodes[1:]
    assert (wider.inputs, back.inputs) == ((source.name,), (wider.name,))
    assert chain.outputs == (back.name,)
    assert graph_from_json(graph_to_json(chain)) == chain


def test_inputs_from_elsewhere_are_replaced_by_the_source() -> None:
    source, layer = as_chain(SOURCE, [SUM]).nodes
    assert layer.inputs == (source.name, source.name)


def test_a_chain_is_stored_once_per_shape_and_kind() -> None:
    rng, repertoire = random.Random(0), Repertoire()
    single, several = as_chain(SOURCE, [SUM]), as_chain(SOURCE, [WIDER, BACK])
    for chain in (single, several):
        repertoire.learn(chain)
    assert repertoire.choose(rng, SHAPE, is_bundle=False) == single
    assert repertoire.choose(rng, SHAPE, is_bundle=True) == several
    assert repertoire.choose(rng, (4, 4, 3), is_bundle=True) is None


def flat(negative_slope: float) -> LayerNode:
    config = {"negative_slope": negative_slope}
    return LayerNode(
        name="leaky", layer="keras.layers.LeakyReLU", config=config, inputs=("conv",), shape=SHAPE
    )


def test_the_oldest_chains_are_dropped() -> None:
    rng, repertoire = random.Random(0), Repertoire()
    for slope in range(200):
        repertoire.learn(as_chain(SOURCE, [flat(slope)]))
    drawn = {slope_of(repertoire, rng) for _ in range(2000)}
    assert drawn == set(range(200 - 64, 200))


def test_chains_ignore_names_and_weights() -> None:
    rng, repertoire = random.Random(0), Repertoire()
    for seed in range(200):
        again = replace(flat(1), name=f"leaky_{seed}", weights=Weights(seed=seed))
        repertoire.learn(as_chain(SOURCE, [again]))
        repertoire.learn(as_chain(SOURCE, [flat(2)]))
    drawn = [slope_of(repertoire, rng) for _ in range(200)]
    assert 50 < drawn.count(1) < 150


def slope_of(repertoire: Repertoire, rng: random.Random) -> object:
    chain = repertoire.choose(rng, SHAPE, is_bundle=False)
    assert chain is not None
    return chain.nodes[1].config["negative_slope"]


def test_an_attached_chain_has_unused_names_and_new_weights() -> None:
    chain = as_chain(SOURCE, [WIDER, BACK])
    wider, back = attach_chain(chain, random.Random(0), "pool", {"zero_padding2_d_1", "pool"})
    assert wider.inputs == ("pool",)
    assert back.inputs == (wider.name,)
    assert wider.name not in {"zero_padding2_d_1", "pool", back.name}
    assert (wider.config, wider.shape) == (WIDER.config, WIDER.shape)
    assert wider.weights != WIDER.weights


@pytest.mark.lengthy
def test_every_inserted_chain_can_be_inserted_again() -> None:
    """A graph with the same chain inserted twice is consistent, for both rules."""
    universe = Universe.of()
    repeated_count = 0
    for seed in range(600):
        rng = random.Random(seed)
        graph = rng.choice(MODELS).graph
        mutation = rng.choice((add, add_many))(graph, rng, universe)
        if mutation is None or len(mutation.chains) > 1:
            continue
        (chain,) = mutation.chains
        source, target = mutation.description.split(":")[0].split(" → ")
        place = mutation.graph.node(target).inputs
        last = next(name for name in place if name not in {n.name for n in graph.nodes})
        nodes = attach_chain(chain, rng, last, [n.name for n in mutation.graph.nodes])
        again = insert_chain(mutation.graph, Edge(last, target, place.index(last)), nodes)
        assert universe.is_consistent(again)
        assert chain.inputs[0].shape == mutation.graph.node(source).shape
        repeated_count += 1
    assert repeated_count > 150


@pytest.mark.lengthy
def test_the_share_of_repeated_chains_is_as_configured() -> None:
    rng, universe = random.Random(0), replace(Universe.of(), repeat_probability=0.5)
    graph = MODELS[0].graph
    first = add(graph, rng, universe)
    assert first is not None
    chain = first.chains[0]
    universe.repertoire.learn(chain)
    layers = [(node.layer, node.config) for node in chain.nodes[1:]]
    shape = chain.inputs[0].shape
    repeated = drawn = 0
    for _ in range(400):
        mutation = add(graph, rng, universe)
        for other in mutation.chains if mutation else ():
            if other.inputs[0].shape == shape:
                drawn += 1
                repeated += [(node.layer, node.config) for node in other.nodes[1:]] == layers
    assert drawn > 50
    assert 0.3 < repeated / drawn < 0.8


def test_excluded_layers_are_not_repeated() -> None:
    rng, universe = random.Random(0), Universe.of()
    graph = MODELS[0].graph
    first = add(graph, rng, universe)
    assert first is not None
    chain = first.chains[0]
    universe.repertoire.learn(chain)
    layer = chain.nodes[-1].layer
    rest = replace(universe, repeat_probability=1.0).with_exclusions([layer])
    for _ in range(200):
        mutation = add(graph, rng, rest)
        assert mutation is not None
        assert layer not in {node.layer for chain in mutation.chains for node in chain.nodes}
