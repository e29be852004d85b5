"""Feedback of level `model`: the inconsistency of each mutant of a batch, and its derivation."""

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
    """Feedback of one case."""

    name: str
    """Name of the mutant or seed model."""
    seed: str
    """Name of the seed model."""
    acc: float | None
    """Accumulated inconsistency; None if fewer than two targets returned outputs."""
    parent: str = ""
    """Name of the parent; empty for a seed model."""
    parent_acc: float | None = None
    """Accumulated inconsistency of the parent; None if it was unknown when the mutant was made."""
    rule: RuleName | None = None
    mutations: tuple[str, ...] = ()
    graph: LayerGraph | None = None
    """Graph of a mutant that may join the pool."""
    cost: int = 0
    """Cost of the run, see `cost_of`; more than 0 if a process crashed or hung."""
    added: tuple[str, ...] = ()
    """Layers that the parent lacks: the suspects if the run crashed."""
    drawn: tuple[str, ...] = ()
    """Layers and activations that the rule drew, whether or not the parent has them. A layer that
    all seeds have would otherwise count as unused and be preferred."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted layer chains, if they ran: graphs of one input and one output."""

    @property
    def may_amplify(self) -> bool:
        """True if the mutant amplifies inconsistency, as far as is known."""
        return self.acc is not None and (self.parent_acc is None or self.acc >= self.parent_acc)


@dataclass(frozen=True, slots=True)
class ModelFeedback:
    """Feedback of one batch."""

    index: int
    mutants: tuple[MutantFeedback, ...]

    def to_json(self) -> Json:
        """Return the JSON form."""
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
            msg = f"not encoded feedback: {error!r}"
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
    filled = {key: item for key, item in optional.items() if item not in ("", None, [])}
    return {"name": mutant.name, "seed": mutant.seed, "acc": mutant.acc, **filled}


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
