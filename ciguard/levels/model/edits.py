"""Edits of a layer graph that keep it valid; all mutation rules consist of them."""

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
_SOFTMAX_LAYER = "keras.layers.Softmax"
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
SEED_BITS = 31
"""Number of bits of the seed that weights are drawn from."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A connection from a layer's output to another layer's input."""

    source: str
    target: str
    place: int
    """Index of the tensor among the target's inputs."""


def protected(graph: LayerGraph) -> frozenset[str]:
    """Return the nodes that no rule changes.

    These are the inputs, the outputs, and everything from the first softmax on: its results are the
    compared probabilities (LEMON's released material).
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
    """Return whether a node ends in a softmax."""
    return node.layer == _SOFTMAX_LAYER or node.config.get("activation") == SOFTMAX


def edges(graph: LayerGraph) -> list[Edge]:
    """Return the edges on which a layer may be inserted: none after a softmax or an output."""
    fixed = protected(graph) - {node.name for node in graph.inputs}
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


def owner(graph: LayerGraph, node: LayerNode) -> LayerNode:
    """Return the node whose layer object a node calls: usually itself."""
    return graph.node(node.shares) if node.shares else node


def layer_group(graph: LayerGraph, node: LayerNode) -> frozenset[str]:
    """Return the names of the nodes that call the same layer object as this one."""
    first = node.shares or node.name
    return frozenset(n.name for n in graph.nodes if first in (n.name, n.shares))


def free_name(taken: Iterable[str], layer: str) -> str:
    """Return an unused name that is derived from the layer's: `max_pooling2d_3`."""
    used = set(taken)
    stem = _WORD_BOUNDARY.sub("_", layer.rsplit(".", 1)[-1]).lower()
    number = 1
    while f"{stem}_{number}" in used:
        number += 1
    return f"{stem}_{number}"


def new_node(  # noqa: PLR0913 - the parts of a node
    rng: random.Random,
    kind: LayerKind,
    config: Config,
    *,
    name: str,
    inputs: tuple[str, ...],
    shape: Shape,
) -> LayerNode:
    """Return a node with its own layer and new weights."""
    return LayerNode(
        name=name,
        layer=kind.public,
        config=config,
        inputs=inputs,
        as_list=kind.as_list,
        shape=shape,
        dtype=kind.gives.value,
        weights=Weights(seed=rng.getrandbits(SEED_BITS)),
    )


def inserted(graph: LayerGraph, edge: Edge, chain: tuple[LayerNode, ...]) -> LayerGraph:
    """Return the graph with a chain of nodes on an edge; the last must fit the target's input."""
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


def changed(graph: LayerGraph, new: Mapping[str, LayerNode]) -> LayerGraph:
    """Return the graph with some nodes replaced, under the same names."""
    nodes = tuple(new.get(node.name, node) for node in graph.nodes)
    return LayerGraph(nodes=nodes, outputs=graph.outputs)


def configured(graph: LayerGraph, node: LayerNode, arguments: Mapping[str, Json]) -> LayerGraph:
    """Return the graph with other arguments for a node's layer, in all calls of that layer."""
    group = layer_group(graph, node)
    return changed(
        graph,
        {
            other.name: replace(other, config={**other.config, **arguments})
            for other in graph.nodes
            if other.name in group
        },
    )


def without(graph: LayerGraph, name: str, instead: str) -> LayerGraph | None:
    """Return the graph without a node, whose output another node's replaces.

    Nodes that no output needs are removed too.

    Returns:
        None if an input of the graph would become unused.
    """
    rest = [
        replace(node, inputs=tuple(instead if i == name else i for i in node.inputs))
        for node in graph.nodes
        if node.name != name
    ]
    return pruned(ordered([*rest], graph, leaving=graph.node(name)), graph)


def pruned(graph: LayerGraph | None, before: LayerGraph) -> LayerGraph | None:
    """Return the graph without nodes that no output needs; None if an input is one of them."""
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
        rest = _with_new_owner(rest, node)
    return LayerGraph(nodes=tuple(rest), outputs=graph.outputs)


def ordered(
    nodes: list[LayerNode], before: LayerGraph, *, leaving: LayerNode | None = None
) -> LayerGraph | None:
    """Return a graph of these nodes, each after its inputs; the first call owns a shared layer.

    Nodes keep their order as far as possible.

    Returns:
        None if there is a cycle.
    """
    if leaving is not None:
        nodes = _with_new_owner(nodes, leaving)
    done: set[str] = set()
    sorted_nodes: list[LayerNode] = []
    waiting = nodes
    while waiting:
        ready = [node for node in waiting if done.issuperset(node.inputs)]
        if not ready:
            return None
        # One at a time, so that a sorted chain keeps its order.
        first = ready[0]
        sorted_nodes.append(first)
        done.add(first.name)
        waiting = [node for node in waiting if node is not first]
    return LayerGraph(nodes=tuple(_owned_by_first(sorted_nodes)), outputs=before.outputs)


def _with_new_owner(nodes: list[LayerNode], leaving: LayerNode) -> list[LayerNode]:
    """Return the nodes with the layer of a removed node owned by the next that calls it."""
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


def _owned_by_first(nodes: list[LayerNode]) -> list[LayerNode]:
    """Return the nodes with each shared layer owned by the first node that calls it."""
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
