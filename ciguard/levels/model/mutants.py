"""From a model to a mutant of it: rules are tried until one finds a place."""

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

_TRIES = 20
"""Rules tried on one model; where so many find no place, it is run as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMutant:
    """A mutant, and the rules that came before the one that made it."""

    parent: str
    parent_acc: float | None
    seed: str
    rule: RuleName
    graph: LayerGraph
    mutations: tuple[str, ...]
    rejected: tuple[RuleName, ...] = ()
    """Rules that found no place, in order."""
    added: tuple[str, ...] = ()
    """Layers that the model it was made from had not, by their public names."""
    drawn: tuple[str, ...] = ()
    """Layers and activations that its rule drew, new to that model or not."""
    chains: tuple[LayerGraph, ...] = ()
    """What was inserted, if that is what its rule does."""


def mutated(
    parent: Parent,
    guidance: Guidance,
    universe: Universe,
    rng: random.Random,
    *,
    current: RuleName | None,
) -> ModelMutant | None:
    """Return a mutant of a model by the first rule chosen that finds a place; None for none."""
    rejected: list[RuleName] = []
    for _ in range(_TRIES):
        current = guidance.rules.choose(rng, current)
        made = RULES[current](parent.graph, rng, universe)
        if made is not None:
            return ModelMutant(
                parent=parent.name,
                parent_acc=parent.acc,
                seed=parent.seed,
                rule=current,
                graph=made.graph,
                mutations=(*parent.mutations, f"{current.value} {made.what}"),
                rejected=tuple(rejected),
                added=_added(made.graph, parent.graph),
                drawn=made.drawn,
                chains=made.chains,
            )
        rejected.append(current)
    return None


def _added(graph: LayerGraph, before: LayerGraph) -> tuple[str, ...]:
    known = {node.layer for node in before.nodes}
    return tuple(sorted({node.layer for node in graph.nodes} - known))
