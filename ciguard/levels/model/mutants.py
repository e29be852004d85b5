"""Mutation of a model: rules are attempted until one applies."""

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
"""Number of rules attempted on one model; if none applies, there is no mutant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMutant:
    """A mutant and its derivation."""

    parent: str
    parent_acc: float | None
    seed: str
    rule: RuleName
    graph: LayerGraph
    mutations: tuple[str, ...]
    rejected: tuple[RuleName, ...] = ()
    """Rules that did not apply, in order."""
    added: tuple[str, ...] = ()
    """Layers that the parent lacks, by their public names."""
    drawn: tuple[str, ...] = ()
    """Layers and activations that the rule drew, whether or not the parent has them."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted layer chains, if the rule inserts any."""


def mutated(
    parent: Parent,
    guidance: Guidance,
    universe: Universe,
    rng: random.Random,
    *,
    current: RuleName | None,
) -> ModelMutant | None:
    """Return a mutant by the first chosen rule that applies; None if none does."""
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
                mutations=(*parent.mutations, f"{current.value} {mutation.what}"),
                rejected=tuple(rejected),
                added=_added(mutation.graph, parent.graph),
                drawn=mutation.drawn,
                chains=mutation.chains,
            )
        rejected.append(current)
    return None


def _added(graph: LayerGraph, before: LayerGraph) -> tuple[str, ...]:
    known = {node.layer for node in before.nodes}
    return tuple(sorted({node.layer for node in graph.nodes} - known))
