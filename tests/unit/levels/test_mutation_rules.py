"""Mutation rules, applied repeatedly to every graph: the results are valid graphs."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_graphs import GRAPHS, entry, node

from ciguard.domain.models import LayerGraph, WeightRule, graph_from_json, graph_to_json
from ciguard.levels.model.arguments import ACTIVATIONS
from ciguard.levels.model.edits import edges, protected_nodes
from ciguard.levels.model.rules import RULES, RuleName
from ciguard.levels.model.universe import Universe, draw_name, max_mutant_size

ALL = Universe.of()
NAMES = st.sampled_from(sorted(GRAPHS))
RULE = st.sampled_from(RuleName)


def mutants(graph: LayerGraph, rules: list[RuleName], seed: int) -> list[LayerGraph]:
    universe = ALL.with_size_limit(max_mutant_size(ALL.size(graph)))
    rng = random.Random(seed)
    graphs = [graph]
    for rule in rules:
        mutation = RULES[rule](graphs[-1], rng, universe)
        if mutation is not None:
            graphs.append(mutation.graph)
    return graphs


@given(NAMES, st.lists(RULE, min_size=1, max_size=12), st.integers(0, 2**32))
def test_mutants_of_any_order_are_valid_graphs(name: str, rules: list[RuleName], seed: int) -> None:
    graph = GRAPHS[name]

    for mutant in mutants(graph, rules, seed)[1:]:
        # Parsing rejects nodes in a wrong order and repeated names.
        assert graph_from_json(graph_to_json(mutant)) == mutant
        assert ALL.is_consistent(mutant)
        assert mutant.inputs == graph.inputs
        assert mutant.outputs == graph.outputs
        for out in graph.outputs:
            assert mutant.node(out).shape == graph.node(out).shape
            assert mutant.node(out).config == graph.node(out).config
        assert ALL.size(mutant).fits(max_mutant_size(ALL.size(graph)))


@given(NAMES, st.lists(RULE, min_size=1, max_size=12), st.integers(0, 2**32))
def test_nodes_that_share_a_layer_have_the_same_configuration(
    name: str, rules: list[RuleName], seed: int
) -> None:
    for mutant in mutants(GRAPHS[name], rules, seed):
        for current in mutant.nodes:
            if current.shares:
                first = mutant.node(current.shares)
                assert not first.shares
                assert (first.layer, first.config) == (current.layer, current.config)


@given(NAMES, st.lists(RULE, max_size=12), st.integers(0, 2**32))
def test_the_same_generator_makes_the_same_mutants(
    name: str, rules: list[RuleName], seed: int
) -> None:
    assert mutants(GRAPHS[name], rules, seed) == mutants(GRAPHS[name], rules, seed)


@pytest.mark.parametrize("rule", RuleName)
def test_every_rule_applies_and_changes_the_graph(rule: RuleName) -> None:
    changed = Counter(
        name
        for name, graph in GRAPHS.items()
        for seed in range(20)
        for mutant in mutants(graph, [rule], seed)[1:]
        if mutant != graph
    )

    assert changed["residual"] > 10


def test_no_rule_changes_layers_from_the_softmax_on() -> None:
    x = entry("x", 4)
    a = node("a", "Dense", x, units=4)
    soft = node("soft", "Softmax", a)
    behind = node("behind", "Dense", soft, units=4, activation="relu")
    out = node("out", "Dense", behind, units=4)
    graph = LayerGraph(nodes=(x, a, soft, behind, out), outputs=("out",))

    assert protected_nodes(graph) == {"x", "soft", "behind", "out"}
    assert [(edge.source, edge.target) for edge in edges(graph)] == [("x", "a"), ("a", "soft")]


def test_the_weights_of_a_removed_shared_layer_move_to_the_next_owner() -> None:
    graph = GRAPHS["shared"]
    mutant = next(
        m
        for seed in range(200)
        for m in mutants(graph, [RuleName.REMOVAL], seed)[1:]
        if "a" not in {n.name for n in m.nodes}
    )

    assert mutant.node("b").shares == ""
    assert mutant.node("b").weights == graph.node("a").weights
    assert mutant.node("c").shares == "b"


def test_switching_exchanges_two_layers_of_a_chain() -> None:
    x = entry("x", 4)
    a = node("a", "Dense", x, units=4)
    b = node("b", "ReLU", a)
    out = node("out", "Dense", b, units=2)
    graph = LayerGraph(nodes=(x, a, b, out), outputs=("out",))

    mutation = RULES[RuleName.SWITCH](graph, random.Random(0), ALL)

    assert mutation is not None
    assert [(n.name, n.inputs) for n in mutation.graph.nodes] == [
        ("x", ()),
        ("b", ("x",)),
        ("a", ("b",)),
        ("out", ("a",)),
    ]


def test_a_copy_has_the_weights_of_the_layer() -> None:
    graph = GRAPHS["lenet"]
    mutation = next(
        m
        for seed in range(99)
        if (m := RULES[RuleName.COPY](graph, random.Random(seed), ALL))
        and m.description.startswith("d2")
    )
    copied = mutation.graph.node("dense_1")

    assert copied.inputs == ("d2",)
    assert mutation.graph.node("out").inputs == ("dense_1",)
    assert copied.weights == graph.node("d2").weights


def test_an_activation_that_is_an_argument_becomes_linear_or_another() -> None:
    x = entry("x", 4)
    a = node("a", "Dense", x, units=4, activation="relu")
    out = node("out", "Dense", a, units=2)
    graph = LayerGraph(nodes=(x, a, out), outputs=("out",))

    removed = RULES[RuleName.ACTIVATION_REMOVAL](graph, random.Random(0), ALL)
    replaced = RULES[RuleName.ACTIVATION_REPLACEMENT](graph, random.Random(0), ALL)

    assert removed is not None
    assert removed.graph.node("a").config["activation"] == "linear"
    assert replaced is not None
    assert replaced.graph.node("a").config["activation"] not in ("relu", "softmax")
    assert RULES[RuleName.ACTIVATION_REMOVAL](removed.graph, random.Random(0), ALL) is None


@pytest.mark.parametrize("rule", WeightRule)
def test_weight_rules_append_edits_in_order(rule: WeightRule) -> None:
    once, twice = mutants(GRAPHS["lstm"], [RuleName(rule.value)] * 2, 3)[1:]

    kinds = [e.rule for n in twice.nodes for e in n.weights.edits]
    assert kinds == [rule, rule]
    assert [replace(n, weights=GRAPHS["lstm"].node(n.name).weights) for n in once.nodes] == list(
        GRAPHS["lstm"].nodes
    )


def test_the_least_used_layer_is_chosen_first() -> None:
    kinds = ALL.kinds[:4]
    draw_counts = {kind.public: 0 if at == 2 else 10_000 for at, kind in enumerate(kinds)}
    choosing = replace(ALL, draw_counts=draw_counts)
    rng = random.Random(3)

    chosen = Counter(choosing.choose(rng, kinds, keeps_shape=True).public for _ in range(300))

    assert chosen.most_common(1)[0][0] == kinds[2].public
    assert chosen[kinds[2].public] > 290


def test_a_new_layer_comes_before_a_layer_that_was_drawn_in_another_way() -> None:
    keeping, changing, never_drawn = ALL.kinds[:3]
    draw_counts = {
        draw_name(keeping, keeps_shape=True): 1,
        draw_name(changing, keeps_shape=False): 1,
    }
    choosing = replace(ALL, draw_counts=draw_counts)

    in_order = [
        choosing.draw_count(kind, keeps_shape=True) for kind in (never_drawn, changing, keeping)
    ]

    assert in_order == [0, 1, 2]


def test_a_new_layer_is_inserted_on_the_edge_that_accepts_the_rarest_layer() -> None:
    """Without the comparison of edges, about half of the layers would be inserted after vectors."""
    graph = GRAPHS["lenet"]
    of_images, of_vectors = (
        {kind.public for kind in ALL.kinds if kind.fits((shape,))}
        for shape in (graph.inputs[0].shape, (8,))
    )
    never_drawn = of_images - of_vectors
    draw_counts = {
        draw_name(kind, keeps_shape=True): 1 for kind in ALL.kinds if kind.public not in never_drawn
    }
    universe = replace(ALL, draw_counts=draw_counts)

    mutations = [
        RULES[RuleName.ADDITION](graph, random.Random(seed), universe) for seed in range(200)
    ]

    assert sum(bool(mutation and mutation.drawn[0] in never_drawn) for mutation in mutations) > 150


@pytest.mark.lengthy
def test_bundles_reach_layers_of_volumes() -> None:
    graph = next(graph for graph in GRAPHS.values() if len(graph.inputs[0].shape) == 3)
    rng, draw_counts = random.Random(1), Counter[str]()
    universe = replace(ALL, draw_counts=draw_counts).with_size_limit(
        max_mutant_size(ALL.size(graph))
    )
    layers = set()

    for _ in range(600):
        mutation = RULES[RuleName.MULTI_ADDITION](graph, rng, universe)
        if mutation:
            draw_counts.update(mutation.drawn)
            layers |= {node.layer for node in mutation.graph.nodes}

    assert {"keras.layers.MaxPooling3D", "keras.layers.SpatialDropout3D"} <= layers


@pytest.mark.lengthy
def test_a_layer_that_fits_nowhere_does_not_block_insertion() -> None:
    """A rarely drawn layer is preferred, so a layer that does not fit must not be drawn again."""

    def added(seed: int, universe: Universe) -> tuple[str, ...]:
        mutation = RULES[RuleName.ADDITION](GRAPHS["lstm"], random.Random(seed), universe)
        return mutation.drawn if mutation else ()

    suitable = Counter(name for seed in range(300) for name in added(seed, ALL))
    universe = replace(ALL, draw_counts=dict.fromkeys(suitable, 1000))

    assert all(added(seed, universe) for seed in range(20))


@pytest.mark.lengthy
def test_a_layer_of_several_inputs_mostly_gets_different_tensors() -> None:
    graphs = Counter(
        len(set(current.inputs)) > 1
        for seed in range(600)
        for mutant in mutants(GRAPHS["lenet"], [RuleName.ADDITION], seed)[1:]
        for current in mutant.nodes
        if len(current.inputs) > 1
    )

    assert graphs[True] > graphs[False] > 0


def test_the_least_drawn_activations_come_first() -> None:
    chosen = "softplus"
    draw_counts = {
        f"{ACTIVATIONS}{name}": 1000 for name in ALL.arguments.activations if name != chosen
    }
    rng, universe = random.Random(1), replace(ALL, draw_counts=draw_counts)

    mutations = [
        RULES[RuleName.ACTIVATION_REPLACEMENT](GRAPHS["lenet"], rng, universe) for _ in "123"
    ]

    assert [mutation and mutation.drawn for mutation in mutations] == [
        (f"{ACTIVATIONS}{chosen}",)
    ] * 3
