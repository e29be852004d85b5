"""Edits of layer graphs that keep a graph valid; all mutation rules consist of such edits."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.models import INPUT, LayerGraph, LayerNode, Weights

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping

    from ciguard.domain.models import Shape
    from ciguard.domain.values import Json
    from ciguard.levels.model.layers import Config, LayerKind

SOFTMAX = "softmax"
"""Name of the activation."""
_SOFTMAX_LAYER = "keras.layers.Softmax"
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
SEED_BITS = 31
"""Size of the random seed of a layer's weights, in bits."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A connection from a node's output to another node's input."""

    source: str
    """Name of the node that computes the tensor."""
    target: str
    """Name of the node that takes the tensor."""
    place: int
    """Index of the tensor among the target's inputs."""


def protected_nodes(graph: LayerGraph) -> frozenset[str]:
    """Return the names of the nodes that no rule changes.

    These are inputs, outputs, softmax layers, and all nodes after a softmax. The results of a
    softmax are the probabilities that are compared (LEMON's published code).
    """
    protected_names = set(graph.outputs)
    after_softmax: set[str] = set()
    for node in graph.nodes:
        if node.layer == INPUT:
            protected_names.add(node.name)
        elif is_softmax(node) or after_softmax.intersection(node.inputs):
            after_softmax.add(node.name)
    return frozenset(protected_names | after_softmax)


def is_softmax(node: LayerNode) -> bool:
    """Return whether a node's layer or activation is a softmax."""
    return node.layer == _SOFTMAX_LAYER or node.config.get("activation") == SOFTMAX


def edges(graph: LayerGraph) -> list[Edge]:
    """Return the edges on which a layer may be inserted, none of them after a protected node."""
    fixed = protected_nodes(graph) - {node.name for node in graph.inputs}
    return [
        Edge(source, node.name, index)
        for node in graph.nodes
        for index, source in enumerate(node.inputs)
        if source not in fixed
    ]


def shapes_into(graph: LayerGraph, node: LayerNode) -> tuple[Shape, ...]:
    """Return the shapes of a node's inputs."""
    shapes = {other.name: other.shape for other in graph.nodes}
    return tuple(shapes[name] for name in node.inputs)


def layer_owner(graph: LayerGraph, node: LayerNode) -> LayerNode:
    """Return the node that owns the layer object that a node calls: usually the node itself."""
    return graph.node(node.shares) if node.shares else node


def layer_group(graph: LayerGraph, node: LayerNode) -> frozenset[str]:
    """Return the names of the nodes that call the same layer object as a node, itself included."""
    first = node.shares or node.name
    return frozenset(n.name for n in graph.nodes if first in (n.name, n.shares))


def free_name(taken: Iterable[str], layer: str) -> str:
    """Return an unused node name that is derived from a layer's name, e.g. `max_pooling2d_3`."""
    used = set(taken)
    stem = _WORD_BOUNDARY.sub("_", layer.rsplit(".", 1)[-1]).lower()
    number = 1
    while f"{stem}_{number}" in used:
        number += 1
    return f"{stem}_{number}"


def new_node(  # noqa: PLR0913 - each argument is a part of the node
    rng: random.Random,
    kind: LayerKind,
    config: Config,
    *,
    name: str,
    inputs: tuple[str, ...],
    shape: Shape,
) -> LayerNode:
    """Return a node with a layer of its own and new random weights."""
    return LayerNode(
        name=name,
        layer=kind.public,
        config=config,
        inputs=inputs,
        as_list=kind.as_list,
        shape=shape,
        dtype=kind.output_elements.value,
        weights=Weights(seed=rng.getrandbits(SEED_BITS)),
    )


def insert_chain(graph: LayerGraph, edge: Edge, chain: tuple[LayerNode, ...]) -> LayerGraph:
    """Return the graph with a chain of nodes on an edge.

    The output of the last node must have the shape that the edge's target takes.
    """
    nodes: list[LayerNode] = []
    for node in graph.nodes:
        if node.name == edge.target:
            nodes += chain
            inputs = list(node.inputs)
            inputs[edge.place] = chain[-1].name
            nodes.append(replace(node, inputs=tuple(inputs)))
        else:
            nodes.append(node)
    return LayerGraph(nodes=tuple(nodes), outputs=graph.outputs)


def replace_nodes(graph: LayerGraph, new: Mapping[str, LayerNode]) -> LayerGraph:
    """Return the graph with some nodes replaced by new nodes of the same names."""
    nodes = tuple(new.get(node.name, node) for node in graph.nodes)
    return LayerGraph(nodes=nodes, outputs=graph.outputs)


def with_arguments(graph: LayerGraph, node: LayerNode, arguments: Mapping[str, Json]) -> LayerGraph:
    """Return the graph with changed arguments of a node's layer, in all nodes that call it."""
    group = layer_group(graph, node)
    return replace_nodes(
        graph,
        {
            other.name: replace(other, config={**other.config, **arguments})
            for other in graph.nodes
            if other.name in group
        },
    )


def remove_node(graph: LayerGraph, name: str, instead: str) -> LayerGraph | None:
    """Return the graph without a node; nodes that no output needs are removed too.

    Args:
        graph: the graph.
        name: the name of the node to remove.
        instead: the name of the node whose output takes the place of the removed output.

    Returns:
        The graph; None if an input of the graph would become unused, or there would be a cycle.
    """
    rest = [
        replace(node, inputs=tuple(instead if i == name else i for i in node.inputs))
        for node in graph.nodes
        if node.name != name
    ]
    return remove_unused(sort_nodes([*rest], graph, leaving=graph.node(name)), graph)


def remove_unused(graph: LayerGraph | None, before: LayerGraph) -> LayerGraph | None:
    """Return the graph without nodes that no output needs; None if an input is one of them.

    Args:
        graph: the graph; for None, the result is None.
        before: the graph before the mutation, whose inputs must stay.
    """
    if graph is None:
        return None
    needed = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node.name in needed:
            needed.update(node.inputs)
    if any(node.name not in needed for node in before.inputs):
        return None
    unused = [node for node in graph.nodes if node.name not in needed]
    rest = [node for node in graph.nodes if node.name in needed]
    for node in unused:
        rest = _hand_over_layer(rest, node)
    return LayerGraph(nodes=tuple(rest), outputs=graph.outputs)


def sort_nodes(
    nodes: list[LayerNode], before: LayerGraph, *, leaving: LayerNode | None = None
) -> LayerGraph | None:
    """Return a graph of nodes, sorted so that each comes after its inputs.

    Nodes keep their order as far as possible. The first node that calls a shared layer owns it.

    Args:
        nodes: the nodes.
        before: the graph before the mutation, whose outputs are kept.
        leaving: a node that was removed; its layer gets another owner.

    Returns:
        The graph; None if there is a cycle.
    """
    if leaving is not None:
        nodes = _hand_over_layer(nodes, leaving)
    done: set[str] = set()
    sorted_nodes: list[LayerNode] = []
    unsorted = nodes
    while unsorted:
        ready = [node for node in unsorted if done.issuperset(node.inputs)]
        if not ready:
            return None
        # Nodes are taken one at a time, so that a sorted chain keeps its order.
        first = ready[0]
        sorted_nodes.append(first)
        done.add(first.name)
        unsorted = [node for node in unsorted if node is not first]
    return LayerGraph(nodes=tuple(_hand_layers_to_first(sorted_nodes)), outputs=before.outputs)


def _hand_over_layer(nodes: list[LayerNode], leaving: LayerNode) -> list[LayerNode]:
    """Return the nodes, with a removed node's layer handed over to the next node that calls it."""
    new_owner = next((node.name for node in nodes if node.shares == leaving.name), "")
    nodes_after = []
    for node in nodes:
        if node.name == new_owner:
            nodes_after.append(replace(node, shares="", weights=leaving.weights))
        elif node.shares == leaving.name:
            nodes_after.append(replace(node, shares=new_owner))
        else:
            nodes_after.append(node)
    return nodes_after


def _hand_layers_to_first(nodes: list[LayerNode]) -> list[LayerNode]:
    """Return the nodes, with each shared layer handed over to the first node that calls it."""
    groups = {node.shares or node.name for node in nodes if node.shares}
    weights = {node.name: node.weights for node in nodes}
    first: dict[str, str] = {}
    nodes_after = []
    for node in nodes:
        group = node.shares or node.name
        if group not in groups:
            nodes_after.append(node)
        elif group in first:
            nodes_after.append(replace(node, shares=first[group], weights=Weights()))
        else:
            first[group] = node.name
            nodes_after.append(replace(node, shares="", weights=weights[group]))
    return nodes_after
