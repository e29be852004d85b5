"""Pools of models, from which parents of mutants are chosen at random."""

from __future__ import annotations

import random
from collections import Counter

from model_graphs import GRAPHS

from ciguard.levels.model.pools import MAX_POOL_SIZE, ModelPools, Parent

GRAPH = GRAPHS["lstm"]
DRAWS = 2000


def mutant(name: str, seed: str = "lstm") -> Parent:
    return Parent(name=name, seed=seed, graph=GRAPH, mutations=("LR x",))


def chosen(pools: ModelPools) -> Counter[str]:
    rng = random.Random(1)
    return Counter(pools.choose(rng).name for _ in range(DRAWS))


def test_every_seed_is_equally_probable_whatever_the_size_of_its_pool() -> None:
    pools = ModelPools({"lstm": GRAPH, "other": GRAPH})
    for index in range(3):
        pools.join(mutant(f"m{index}"))

    counts = chosen(pools)

    assert 0.45 < counts["other"] / DRAWS < 0.55
    assert all(0.08 < counts[name] / DRAWS < 0.17 for name in ("lstm", "m0", "m1", "m2"))


def test_a_full_pool_drops_its_oldest_mutant_and_no_seed() -> None:
    pools = ModelPools({"lstm": GRAPH})
    for index in range(MAX_POOL_SIZE + 1):
        pools.join(mutant(f"m{index}"))

    names = set(chosen(pools))

    assert len(pools) == MAX_POOL_SIZE
    assert {"lstm", "m2", f"m{MAX_POOL_SIZE}"} <= names
    assert not {"m0", "m1"} & names


def test_a_seed_that_leaves_takes_its_mutants_along_unless_it_is_the_last() -> None:
    pools = ModelPools({"lstm": GRAPH, "other": GRAPH})
    pools.join(mutant("m0"))
    pools.leave("lstm")
    pools.leave("other")

    assert set(chosen(pools)) == {"other"}


def test_a_mutant_that_reports_after_its_seed_has_left_joins_no_pool() -> None:
    pools = ModelPools({"lstm": GRAPH, "other": GRAPH})
    pools.leave("lstm")
    pools.join(mutant("m0"))

    assert set(chosen(pools)) == {"other"}
