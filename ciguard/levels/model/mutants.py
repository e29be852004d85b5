"""Mutation of a model: rules are attempted until one applies to its graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.model.rules import RULES

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph
    from ciguard.levels.model.pools import Parent
    from ciguard.levels.model.universe import Universe

_MAX_ATTEMPTS = 20
"""Maximum number of rules that are attempted on a model; if none applies, there is no mutant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMutant:
    """A mutant and its derivation."""

    seed: str
    """Name of the seed model."""
    graph: LayerGraph
    """Layer graph of the mutant."""
    mutations: tuple[str, ...]
    """Descriptions of all mutations since the seed model."""
    added: tuple[str, ...] = ()
    """Public names of layers that the parent lacks."""
    drawn: tuple[str, ...] = ()
    """Names under which the rule's draws of layers and activations are counted."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted chains of layers, as graphs with one input and one output."""


def mutate(parent: Parent, universe: Universe, rng: random.Random) -> ModelMutant | None:
    """Return a mutant of a model by the first rule that applies; None if no rule applies.

    Args:
        parent: the model to mutate.
        universe: the layers that may be inserted.
        rng: the source of randomness, which draws all rules with equal probability.
    """
    for _ in range(_MAX_ATTEMPTS):
        rule = rng.choice(tuple(RULES))
        mutation = RULES[rule](parent.graph, rng, universe)
        if mutation is not None:
            return ModelMutant(
                seed=parent.seed,
                graph=mutation.graph,
                mutations=(*parent.mutations, f"{rule.value} {mutation.description}"),
                added=_added_layers(mutation.graph, parent.graph),
                drawn=mutation.drawn,
                chains=mutation.chains,
            )
    return None


def _added_layers(graph: LayerGraph, before: LayerGraph) -> tuple[str, ...]:
    """Return the public names of the layers that a mutant has and its parent lacks, sorted."""
    layers_before = {node.layer for node in before.nodes}
    return tuple(sorted({node.layer for node in graph.nodes} - layers_before))
