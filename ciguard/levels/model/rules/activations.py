"""Mutation rules AFRm and AFRp: removal and replacement of an activation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.model.arguments import ACTIVATIONS
from ciguard.levels.model.edits import (
    SOFTMAX,
    layer_group,
    new_node,
    protected_nodes,
    remove_node,
    replace_nodes,
    shapes_into,
    with_arguments,
)
from ciguard.levels.model.layers import Family, LayerPlace
from ciguard.levels.model.rules.contract import ModelMutation
from ciguard.levels.model.universe import short_name

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph, LayerNode
    from ciguard.levels.model.universe import Universe

_ACTIVATION = "activation"
_NONE = "linear"
_RECURRENT_DEFAULT = "tanh"
"""Activation of a recurrent layer without the argument."""


def remove_activation(
    graph: LayerGraph, rng: random.Random, universe: Universe
) -> ModelMutation | None:
    """Apply AFRm: make a layer's activation linear, or remove an activation layer."""
    choices = [
        node
        for node in _mutable_activations(graph, universe)
        if _activation(node, universe) != _NONE
    ]
    rng.shuffle(choices)
    for node in choices:
        description = f"{node.name}: {_activation(node, universe) or short_name(node.layer)}"
        if not _is_layer(node, universe):
            return ModelMutation(with_arguments(graph, node, {_ACTIVATION: _NONE}), description)
        mutant = remove_node(graph, node.name, node.inputs[0])
        if mutant is not None:
            return ModelMutation(mutant, description)
    return None


def replace_activation(
    graph: LayerGraph, rng: random.Random, universe: Universe
) -> ModelMutation | None:
    """Apply AFRp: give a layer another activation, or replace an activation layer."""
    choices = _mutable_activations(graph, universe)
    if not choices:
        return None
    node = rng.choice(choices)
    if _is_layer(node, universe):
        return _other_layer(graph, node, rng, universe)
    current = _activation(node, universe)
    names = [name for name in universe.arguments.activations if name not in (current, SOFTMAX)]
    if not names:
        return None
    new = universe.choose_activation(rng, names)
    mutant = with_arguments(graph, node, {_ACTIVATION: new})
    return ModelMutation(mutant, f"{node.name}: {current} by {new}", drawn=(f"{ACTIVATIONS}{new}",))


def _other_layer(
    graph: LayerGraph, node: LayerNode, rng: random.Random, universe: Universe
) -> ModelMutation | None:
    kinds = [kind for kind in universe.kinds if kind.family is Family.ACTIVATION]
    others = [kind for kind in kinds if kind.name != "Softmax"]
    if not others:
        return None
    kind = universe.choose(rng, others, keeps_shape=True)
    drawn = universe.draw(rng, kind, LayerPlace(shapes_into(graph, node), keeps_shape=True))
    if drawn is None:
        return None
    config, shape = drawn
    new = new_node(rng, kind, config, name=node.name, inputs=node.inputs, shape=shape)
    group = layer_group(graph, node)
    mutant = replace_nodes(
        graph,
        {
            other.name: replace(new, name=other.name, inputs=other.inputs, shares=other.shares)
            for other in graph.nodes
            if other.name in group
        },
    )
    if not universe.allows(mutant):
        return None
    description = f"{node.name}: {short_name(node.layer)} by {kind.name}"
    return ModelMutation(mutant, description, drawn=(kind.public,))


def _mutable_activations(graph: LayerGraph, universe: Universe) -> list[LayerNode]:
    """Return the nodes with an activation that may change, in all nodes that call the layer."""
    protected_names = protected_nodes(graph)
    return [
        node
        for node in graph.nodes
        if (_activation(node, universe) or _is_layer(node, universe))
        and not protected_names & layer_group(graph, node)
    ]


def _activation(node: LayerNode, universe: Universe) -> str:
    """Return the name of a layer's activation; empty if the layer has no such argument."""
    kind = universe.kind(node)
    is_recurrent = kind is not None and kind.family is Family.RECURRENT
    default = (
        _RECURRENT_DEFAULT if is_recurrent and kind and _ACTIVATION in kind.varied_arguments else ""
    )
    activation = node.config.get(_ACTIVATION, default)
    return activation if isinstance(activation, str) else ""


def _is_layer(node: LayerNode, universe: Universe) -> bool:
    kind = universe.kind(node)
    return kind is not None and kind.family is Family.ACTIVATION
