"""Mutation rules GF, WS, NAI, NEB and NS: changes to the weights of some neurons."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ciguard.domain.models import WeightEdit, WeightRule
from ciguard.levels.model.edits import protected_nodes, replace_nodes
from ciguard.levels.model.rules.contract import ModelMutation
from ciguard.levels.model.universe import short_name

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph
    from ciguard.levels.model.rules.contract import MutationRule
    from ciguard.levels.model.universe import Universe

_SEED_BITS = 31


def edit_weights(
    graph: LayerGraph, rng: random.Random, universe: Universe, *, rule: WeightRule
) -> ModelMutation | None:
    """Append an edit to the weights of a layer, for all nodes that call the layer.

    Returns:
        The mutant; None if no layer has weights that may change.
    """
    protected_names = protected_nodes(graph)
    excluded = protected_names | {
        node.shares for node in graph.nodes if node.name in protected_names
    }
    shapes = {node.name: node.shape for node in graph.nodes}
    choices = [
        node
        for node in graph.nodes
        if not node.shares
        and node.name not in excluded
        and universe.weights(node, tuple(shapes[name] for name in node.inputs))
    ]
    if not choices:
        return None
    node = rng.choice(choices)
    edit = WeightEdit(rule, rng.getrandbits(_SEED_BITS))
    weights = replace(node.weights, edits=(*node.weights.edits, edit))
    mutant = replace_nodes(graph, {node.name: replace(node, weights=weights)})
    return ModelMutation(mutant, f"{node.name}: {short_name(node.layer)}")


def weight_rule(rule: WeightRule) -> MutationRule:
    """Return the mutation rule that edits weights by a weight rule."""
    return partial(edit_weights, rule=rule)
