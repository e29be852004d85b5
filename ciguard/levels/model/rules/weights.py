"""Rules GF, WS, NAI, NEB and NS: changes to the weights of some neurons."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ciguard.domain.models import WeightEdit, WeightRule
from ciguard.levels.model.edits import changed, protected
from ciguard.levels.model.rules.contract import ModelMutation
from ciguard.levels.model.universe import short

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph
    from ciguard.levels.model.rules.contract import MutationRule
    from ciguard.levels.model.universe import Universe

_SEED_BITS = 31


def edit_weights(
    graph: LayerGraph, rng: random.Random, universe: Universe, *, rule: WeightRule
) -> ModelMutation | None:
    """Append an edit to the weights of a layer, which applies to all its calls."""
    protected_names = protected(graph)
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
    mutant = changed(graph, {node.name: replace(node, weights=weights)})
    return ModelMutation(mutant, f"{node.name}: {short(node.layer)}")


def weight_rule(rule: WeightRule) -> MutationRule:
    """Return the rule that appends such an edit."""
    return partial(edit_weights, rule=rule)
