"""LR, LS, LC: a layer is removed, changes places with another, or is repeated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.model.edits import (
    Edge,
    free_name,
    inserted,
    ordered,
    owner,
    protected,
    without,
)
from ciguard.levels.model.rules.contract import ModelMutation
from ciguard.levels.model.universe import short

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph, LayerNode
    from ciguard.levels.model.universe import Universe


def remove(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """LR: remove a layer whose output could be one of its inputs."""
    del universe
    nodes = {node.name: node for node in graph.nodes}
    kept = protected(graph)
    choices = [
        (node, name)
        for node in graph.nodes
        if node.name not in kept
        for name in node.inputs
        if _alike(nodes[name], node)
    ]
    rng.shuffle(choices)
    for node, instead in choices:
        mutant = without(graph, node.name, instead)
        if mutant is not None:
            return ModelMutation(mutant, f"{node.name}: {short(node.layer)}")
    return None


def _alike(one: LayerNode, other: LayerNode) -> bool:
    return (one.shape, one.dtype) == (other.shape, other.dtype)


def switch(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """LS: let two layers change places that take the same shapes and give the same."""
    del universe
    kept = protected(graph)
    nodes = {node.name: node for node in graph.nodes}
    places: dict[tuple[object, ...], list[LayerNode]] = {}
    for node in graph.nodes:
        if node.name not in kept:
            takes = tuple((nodes[name].shape, nodes[name].dtype) for name in node.inputs)
            places.setdefault((takes, node.shape, node.dtype), []).append(node)
    alike = [found for found in places.values() if len(found) > 1]
    pairs = [len(found) * (len(found) - 1) for found in alike]
    for _ in range(_TRIES if alike else 0):
        one, other = rng.sample(rng.choices(alike, pairs)[0], 2)
        mutant = None
        if _does(one) != _does(other):
            mutant = ordered(_switched(graph, one, other), graph)
        if mutant is not None:
            return ModelMutation(mutant, f"{one.name}, {other.name}")
    return None


_TRIES = 24
"""Pairs; layers of a graph that are all the same make no mutant."""


def _does(node: LayerNode) -> tuple[object, ...]:
    """Return what tells one layer from another; two without weights may do the same."""
    return (node.layer, dict(node.config), node.shares or node.name, node.weights)


def _switched(graph: LayerGraph, one: LayerNode, other: LayerNode) -> list[LayerNode]:
    inputs = {one.name: other.inputs, other.name: one.inputs}
    renamed = {one.name: other.name, other.name: one.name}
    return [
        replace(
            node,
            inputs=tuple(renamed.get(i, i) for i in inputs.get(node.name, node.inputs)),
        )
        for node in graph.nodes
    ]


def copy(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """LC: put a copy of a layer behind it, with the same weights.

    A layer of several inputs is given the output of the first in the place of the input of the
    same shape.
    """
    kept = protected(graph)
    nodes = {node.name: node for node in graph.nodes}
    choices = [
        (node, at)
        for node in graph.nodes
        if node.name not in kept
        for at, name in enumerate(node.inputs)
        if _alike(nodes[name], node)
    ]
    rng.shuffle(choices)
    for node, at in choices:
        mutant = _copied(graph, node, at)
        if universe.allows(mutant):
            return ModelMutation(mutant, f"{node.name}: {short(node.layer)}")
    return None


def _copied(graph: LayerGraph, node: LayerNode, at: int) -> LayerGraph:
    name = free_name((n.name for n in graph.nodes), node.layer)
    inputs = tuple(node.name if i == at else given for i, given in enumerate(node.inputs))
    twin = replace(node, name=name, inputs=inputs, shares="", weights=owner(graph, node).weights)
    # The twin stands right behind the layer, before all who take its output.
    takers = [
        Edge(node.name, taker.name, place)
        for taker in graph.nodes
        for place, source in enumerate(taker.inputs)
        if source == node.name
    ]
    mutant = inserted(graph, takers[0], (twin,))
    for edge in takers[1:]:
        mutant = _redirected(mutant, edge, name)
    return mutant


def _redirected(graph: LayerGraph, edge: Edge, source: str) -> LayerGraph:
    nodes = []
    for node in graph.nodes:
        inputs = list(node.inputs)
        if node.name == edge.target:
            inputs[edge.place] = source
        nodes.append(replace(node, inputs=tuple(inputs)))
    return replace(graph, nodes=tuple(nodes))
