"""Mutation of a model: rules are attempted until one applies to its graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.model.rules import RULES

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph
    from ciguard.levels.model.guidance import Guidance, Parent
    from ciguard.levels.model.rules import RuleName
    from ciguard.levels.model.universe import Universe

_MAX_ATTEMPTS = 20
"""Maximum number of rules that are attempted on a model; if none applies, there is no mutant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMutant:
    """A mutant and its derivation."""

    parent: str
    """Name of the parent."""
    parent_acc: float | None
    """Accumulated inconsistency of the parent; None if unknown."""
    seed: str
    """Name of the seed model."""
    rule: RuleName
    """Rule that made the mutant."""
    graph: LayerGraph
    """Layer graph of the mutant."""
    mutations: tuple[str, ...]
    """Descriptions of all mutations since the seed model."""
    rejected: tuple[RuleName, ...] = ()
    """Rules that were attempted before but did not apply, in order."""
    added: tuple[str, ...] = ()
    """Public names of layers that the parent lacks."""
    drawn: tuple[str, ...] = ()
    """Names under which the rule's draws of layers and activations are counted."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted chains of layers, as graphs with one input and one output."""


def mutate(
    parent: Parent,
    guidance: Guidance,
    universe: Universe,
    rng: random.Random,
    *,
    current: RuleName | None,
) -> ModelMutant | None:
    """Return a mutant of a model by the first rule that applies; None if no rule applies.

    Args:
        parent: the model to mutate.
        guidance: the choice of rules.
        universe: the layers that may be inserted.
        rng: the source of randomness.
        current: the rule of the previous mutant; None if there is none.
    """
    rejected: list[RuleName] = []
    for _ in range(_MAX_ATTEMPTS):
        current = guidance.rules.choose(rng, current)
        mutation = RULES[current](parent.graph, rng, universe)
        if mutation is not None:
            return ModelMutant(
                parent=parent.name,
                parent_acc=parent.acc,
                seed=parent.seed,
                rule=current,
                graph=mutation.graph,
                mutations=(*parent.mutations, f"{current.value} {mutation.description}"),
                rejected=tuple(rejected),
                added=_added_layers(mutation.graph, parent.graph),
                drawn=mutation.drawn,
                chains=mutation.chains,
            )
        rejected.append(current)
    return None


def _added_layers(graph: LayerGraph, before: LayerGraph) -> tuple[str, ...]:
    """Return the public names of the layers that a mutant has and its parent lacks, sorted."""
    layers_before = {node.layer for node in before.nodes}
    return tuple(sorted({node.layer for node in graph.nodes} - layers_before))
