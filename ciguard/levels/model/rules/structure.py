"""Mutation rules LR, LS and LC: removal, exchange and copy of a layer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.model.edits import (
    Edge,
    free_name,
    insert_chain,
    layer_owner,
    protected_nodes,
    remove_node,
    sort_nodes,
)
from ciguard.levels.model.rules.contract import ModelMutation
from ciguard.levels.model.universe import short_name

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph, LayerNode
    from ciguard.levels.model.universe import Universe


def remove(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """Apply LR: remove a layer whose output has the form of one of its inputs."""
    del universe
    nodes = {node.name: node for node in graph.nodes}
    protected_names = protected_nodes(graph)
    choices = [
        (node, name)
        for node in graph.nodes
        if node.name not in protected_names
        for name in node.inputs
        if _has_same_form(nodes[name], node)
    ]
    rng.shuffle(choices)
    for node, replacement in choices:
        mutant = remove_node(graph, node.name, replacement)
        if mutant is not None:
            return ModelMutation(mutant, f"{node.name}: {short_name(node.layer)}")
    return None


def _has_same_form(node: LayerNode, other: LayerNode) -> bool:
    return (node.shape, node.dtype) == (other.shape, other.dtype)


def switch(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """Apply LS: exchange two layers with the same input and output shapes."""
    del universe
    protected_names = protected_nodes(graph)
    nodes = {node.name: node for node in graph.nodes}
    places: dict[tuple[object, ...], list[LayerNode]] = {}
    for node in graph.nodes:
        if node.name not in protected_names:
            input_forms = tuple((nodes[name].shape, nodes[name].dtype) for name in node.inputs)
            places.setdefault((input_forms, node.shape, node.dtype), []).append(node)
    groups = [group for group in places.values() if len(group) > 1]
    pairs = [len(group) * (len(group) - 1) for group in groups]
    for _ in range(_MAX_ATTEMPTS if groups else 0):
        first, second = rng.sample(rng.choices(groups, pairs)[0], 2)
        mutant = None
        if _behaviour(first) != _behaviour(second):
            mutant = sort_nodes(_switch_nodes(graph, first, second), graph)
        if mutant is not None:
            return ModelMutation(mutant, f"{first.name}, {second.name}")
    return None


_MAX_ATTEMPTS = 24
"""Maximum number of pairs that are drawn; if all layers of a graph are equal, no pair has a
mutant."""


def _behaviour(node: LayerNode) -> tuple[object, ...]:
    """Return a key of what a node computes; equal layers without weights have equal keys."""
    return (node.layer, dict(node.config), node.shares or node.name, node.weights)


def _switch_nodes(graph: LayerGraph, first: LayerNode, second: LayerNode) -> list[LayerNode]:
    inputs = {first.name: second.inputs, second.name: first.inputs}
    renamed = {first.name: second.name, second.name: first.name}
    return [
        replace(
            node,
            inputs=tuple(renamed.get(i, i) for i in inputs.get(node.name, node.inputs)),
        )
        for node in graph.nodes
    ]


def copy(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """Apply LC: insert a copy of a layer, with the same weights, after the layer.

    The copy takes the layer's output in place of an input of the same shape. Further inputs are the
    same as those of the layer.
    """
    protected_names = protected_nodes(graph)
    nodes = {node.name: node for node in graph.nodes}
    choices = [
        (node, index)
        for node in graph.nodes
        if node.name not in protected_names
        for index, name in enumerate(node.inputs)
        if _has_same_form(nodes[name], node)
    ]
    rng.shuffle(choices)
    for node, index in choices:
        mutant = _insert_copy(graph, node, index)
        if universe.allows(mutant):
            return ModelMutation(mutant, f"{node.name}: {short_name(node.layer)}")
    return None


def _insert_copy(graph: LayerGraph, node: LayerNode, index: int) -> LayerGraph:
    name = free_name((n.name for n in graph.nodes), node.layer)
    inputs = tuple(node.name if i == index else source for i, source in enumerate(node.inputs))
    duplicate = replace(
        node, name=name, inputs=inputs, shares="", weights=layer_owner(graph, node).weights
    )
    # The copy comes before all nodes that took the layer's output, and now take the copy's.
    output_edges = [
        Edge(node.name, consumer.name, place)
        for consumer in graph.nodes
        for place, source in enumerate(consumer.inputs)
        if source == node.name
    ]
    mutant = insert_chain(graph, output_edges[0], (duplicate,))
    for edge in output_edges[1:]:
        mutant = _redirect_edge(mutant, edge, name)
    return mutant


def _redirect_edge(graph: LayerGraph, edge: Edge, source: str) -> LayerGraph:
    nodes = []
    for node in graph.nodes:
        inputs = list(node.inputs)
        if node.name == edge.target:
            inputs[edge.place] = source
        nodes.append(replace(node, inputs=tuple(inputs)))
    return replace(graph, nodes=tuple(nodes))
