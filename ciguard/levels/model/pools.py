"""Pools of models to mutate: one for each seed model, which its mutants join.

Mutation is random (LEMON_r in the paper). The guidance of the paper, by the inconsistency that
mutants amplify, found no more in equal time (docs/benchmarks.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.domain.models import LayerGraph

MAX_POOL_SIZE = 50
"""Maximum number of models in the pool of a seed, including the seed (LEMON's published code)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """A model that may be mutated."""

    name: str
    """Name of the model, unique in all pools."""
    seed: str
    """Name of the seed model; for a mutant, of the one from which it derives."""
    graph: LayerGraph
    """Layer graph of the model."""
    mutations: tuple[str, ...] = ()
    """Descriptions of all mutations since the seed model; empty for a seed."""


class ModelPools:
    """Pools of all seed models. All pools are equally probable, and all models of a pool."""

    def __init__(self, seeds: Mapping[str, LayerGraph]) -> None:
        """Begin with the seed models, given as graphs by name; there must be at least one."""
        self._pools = {
            name: {name: Parent(name=name, seed=name, graph=graph)} for name, graph in seeds.items()
        }

    def __len__(self) -> int:
        """Return the number of models in all pools."""
        return sum(map(len, self._pools.values()))

    def choose(self, rng: random.Random) -> Parent:
        """Choose a model to mutate."""
        pool = rng.choice(list(self._pools.values()))
        return rng.choice(list(pool.values()))

    def join(self, parent: Parent) -> None:
        """Add a mutant to its seed's pool; if the pool is full, remove its oldest mutant.

        Seed models stay, so that mutants do not drift away from real models. A mutant of a seed
        that has left may still have been running, and joins no pool.
        """
        pool = self._pools.get(parent.seed)
        if pool is None:
            return
        pool[parent.name] = parent
        if len(pool) > MAX_POOL_SIZE:
            del pool[next(name for name, other in pool.items() if other.mutations)]

    def leave(self, seed: str) -> None:
        """Remove a seed model with its mutants, unless it is the last one."""
        if len(self._pools) > 1:
            self._pools.pop(seed, None)
