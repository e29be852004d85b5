"""Feedback of level `model`: the inconsistency and derivation of each mutant of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.models import graph_from_json, graph_to_json
from ciguard.levels.model.rules.contract import RuleName

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
    acc: float | None
    """Accumulated inconsistency; None if fewer than two targets returned outputs."""
    parent: str = ""
    """Name of the mutant's parent; empty for a seed model."""
    parent_acc: float | None = None
    """Accumulated inconsistency of the parent; None if it was unknown when the mutant was made."""
    rule: RuleName | None = None
    """Rule that made the mutant; None for a seed model."""
    mutations: tuple[str, ...] = ()
    """Descriptions of all mutations since the seed model."""
    graph: LayerGraph | None = None
    """Graph of a mutant that may join its seed's pool; otherwise None."""
    cost: int = 0
    """Cost of the run, see `cost_of`; more than 0 if a process crashed or hung."""
    added: tuple[str, ...] = ()
    """Layers that the parent lacks, which are suspects if the run crashed."""
    drawn: tuple[str, ...] = ()
    """Names under which the rule's draws of layers and activations are counted. Layers that the
    parent has are included; otherwise a layer that all seeds have would count as unused."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted chains of layers, if the mutant ran, as graphs with one input and one output."""

    @property
    def may_amplify(self) -> bool:
        """True if the mutant amplifies inconsistency, or its parent's inconsistency is unknown."""
        return self.acc is not None and (self.parent_acc is None or self.acc >= self.parent_acc)


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
        "parent": mutant.parent,
        "parent_acc": mutant.parent_acc,
        "rule": mutant.rule.value if mutant.rule else "",
        "mutations": [*mutant.mutations],
        "graph": graph_to_json(mutant.graph) if mutant.graph else None,
        "cost": mutant.cost or None,
        "added": [*mutant.added],
        "drawn": [*mutant.drawn],
        "chains": [graph_to_json(chain) for chain in mutant.chains],
    }
    present = {key: item for key, item in optional.items() if item not in ("", None, [])}
    return {"name": mutant.name, "seed": mutant.seed, "acc": mutant.acc, **present}


def _from_json(encoded: Json) -> MutantFeedback:
    graph, rule = encoded.get("graph"), encoded.get("rule")
    return MutantFeedback(
        name=str(encoded["name"]),
        seed=str(encoded["seed"]),
        acc=_number(encoded["acc"]),
        parent=str(encoded.get("parent", "")),
        parent_acc=_number(encoded.get("parent_acc")),
        rule=RuleName(rule) if rule else None,
        mutations=tuple(map(str, encoded.get("mutations", ()))),
        graph=graph_from_json(graph) if graph else None,
        cost=int(encoded.get("cost", 0)),
        added=tuple(map(str, encoded.get("added", ()))),
        drawn=tuple(map(str, encoded.get("drawn", ()))),
        chains=tuple(map(graph_from_json, encoded.get("chains", ()))),
    )


def _number(encoded: Json) -> float | None:
    return None if encoded is None else float(encoded)
