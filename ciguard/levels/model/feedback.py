"""Feedback of level `model`: how each mutant of a batch ran, and its derivation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.models import graph_from_json, graph_to_json

if TYPE_CHECKING:
    from ciguard.domain.models import LayerGraph
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantFeedback:
    """Feedback of one run of a mutant or of a seed model."""

    name: str
    """Name of the mutant or seed model."""
    seed: str
    """Name of the seed model."""
    mutations: tuple[str, ...] = ()
    """Descriptions of all mutations since the seed model; empty for a seed model."""
    graph: LayerGraph | None = None
    """Graph of a mutant that two targets ran, which joins its seed's pool; otherwise None."""
    cost: int = 0
    """Cost of the run, see `cost_of`; more than 0 if a process crashed or hung."""
    added: tuple[str, ...] = ()
    """Layers that the parent lacks, which are suspects if the run crashed."""
    drawn: tuple[str, ...] = ()
    """Names under which the rule's draws of layers and activations are counted. Layers that the
    parent has are included; otherwise a layer that all seeds have would count as unused."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted chains of layers, if the mutant ran, as graphs with one input and one output."""


@dataclass(frozen=True, slots=True)
class ModelFeedback:
    """Feedback of one batch."""

    index: int
    """Index of the batch."""
    mutants: tuple[MutantFeedback, ...]
    """Feedback of the batch's mutants, or of its seed model."""

    def to_json(self) -> Json:
        """Return the JSON form of the feedback."""
        return [self.index, [_to_json(mutant) for mutant in self.mutants]]

    @classmethod
    def from_json(cls, encoded: Json) -> ModelFeedback:
        """Rebuild feedback from JSON.

        Raises:
            ValueError: if `encoded` is not the JSON form of feedback.
        """
        try:
            index, mutants = encoded
            return cls(int(index), tuple(map(_from_json, mutants)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            msg = f"the stored feedback is not that of level `model`: {error!r}"
            raise ValueError(msg) from error


def _to_json(mutant: MutantFeedback) -> Json:
    optional = {
        "mutations": [*mutant.mutations],
        "graph": graph_to_json(mutant.graph) if mutant.graph else None,
        "cost": mutant.cost or None,
        "added": [*mutant.added],
        "drawn": [*mutant.drawn],
        "chains": [graph_to_json(chain) for chain in mutant.chains],
    }
    present = {key: item for key, item in optional.items() if item not in ("", None, [])}
    return {"name": mutant.name, "seed": mutant.seed, **present}


def _from_json(encoded: Json) -> MutantFeedback:
    graph = encoded.get("graph")
    return MutantFeedback(
        name=str(encoded["name"]),
        seed=str(encoded["seed"]),
        mutations=tuple(map(str, encoded.get("mutations", ()))),
        graph=graph_from_json(graph) if graph else None,
        cost=int(encoded.get("cost", 0)),
        added=tuple(map(str, encoded.get("added", ()))),
        drawn=tuple(map(str, encoded.get("drawn", ()))),
        chains=tuple(map(graph_from_json, encoded.get("chains", ()))),
    )
