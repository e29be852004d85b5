"""What a batch of mutants teaches: how far each drove the targets apart, and what it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.models import graph_from_json, graph_to_json
from ciguard.levels.model.rules.contract import RuleName

if TYPE_CHECKING:
    from ciguard.domain.models import LayerGraph
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantLesson:
    """What one case taught."""

    name: str
    """Of the mutant; for a seed model, its own."""
    seed: str
    """Name of the seed model."""
    acc: float | None
    """Accumulated inconsistency; None where fewer than two targets gave outputs."""
    parent: str = ""
    """Empty for a seed model."""
    parent_acc: float | None = None
    """None where it was not known yet when the mutant was made."""
    rule: RuleName | None = None
    mutations: tuple[str, ...] = ()
    graph: LayerGraph | None = None
    """Of a mutant that may join the pool."""
    cost: int = 0
    """How much of the patience with deadly layers it took: more than 0 where a process died."""
    added: tuple[str, ...] = ()
    """Layers that its parent had not: the suspects where its run was deadly."""
    drawn: tuple[str, ...] = ()
    """Layers and activations that its rule drew, new to its parent or not: one that seeds have
    anyway would else count as never used, and be drawn before all others."""
    chains: tuple[LayerGraph, ...] = ()
    """What was inserted, if it ran: graphs of one input and one output."""

    @property
    def may_amplify(self) -> bool:
        """Whether the mutant amplifies, as far as is known."""
        return self.acc is not None and (self.parent_acc is None or self.acc >= self.parent_acc)


@dataclass(frozen=True, slots=True)
class ModelLesson:
    """What one batch taught."""

    index: int
    mutants: tuple[MutantLesson, ...]

    def to_json(self) -> Json:
        """Return the JSON form."""
        return [self.index, [_to_json(mutant) for mutant in self.mutants]]

    @classmethod
    def from_json(cls, encoded: Json) -> ModelLesson:
        """Rebuild a lesson.

        Raises:
            ValueError: if `encoded` is not the JSON form of one.
        """
        try:
            index, mutants = encoded
            return cls(int(index), tuple(map(_from_json, mutants)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            msg = f"not an encoded lesson: {error!r}"
            raise ValueError(msg) from error


def _to_json(mutant: MutantLesson) -> Json:
    rest = {
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
    filled = {key: item for key, item in rest.items() if item not in ("", None, [])}
    return {"name": mutant.name, "seed": mutant.seed, "acc": mutant.acc, **filled}


def _from_json(encoded: Json) -> MutantLesson:
    graph, rule = encoded.get("graph"), encoded.get("rule")
    return MutantLesson(
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
