"""Roulette, Metropolis-Hastings and inconsistency, compared with LEMON's formulas."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from model_graphs import GRAPHS

from ciguard.levels.model.guidance import (
    MAX_POOL_SIZE,
    Guidance,
    MetropolisHastings,
    Parent,
    Roulette,
)
from ciguard.levels.model.inconsistency import (
    EPSILON,
    accumulated_inconsistency,
    change_rates,
    d_mad,
    deviations,
    layer_deviation,
)
from ciguard.levels.model.rules import RuleName

GRAPH = GRAPHS["lstm"]
DRAWS = 20_000


def chi_squared(counts: Counter[str], expected: dict[str, float]) -> float:
    total = counts.total()
    return sum((counts[k] - total * p) ** 2 / (total * p) for k, p in expected.items())


def test_the_roulette_chooses_by_scores() -> None:
    roulette = Roulette(
        {str(c): Parent(name=str(c), seed="s", graph=GRAPH, choice_count=c) for c in (0, 1, 3)}
    )
    rng = random.Random(1)

    counts = Counter(roulette.choose(rng).name for _ in range(DRAWS))

    assert roulette.probabilities() == pytest.approx({"0": 4 / 7, "1": 2 / 7, "3": 1 / 7})
    # 0.999 quantile for two degrees of freedom.
    assert chi_squared(counts, roulette.probabilities()) < 13.8


def test_every_seed_is_equally_probable_whatever_the_size_of_its_pool() -> None:
    guidance = Guidance.begin({"lstm": GRAPH, "other": GRAPH})
    guidance.record_seed("lstm", 1.0)
    for index in range(MAX_POOL_SIZE + 5):
        guidance.observe(mutant(f"m{index}", 2.0), parent="m3", parent_acc=1.0, rule=RuleName.COPY)

    shares = guidance.roulette.probabilities()

    assert shares["other"] == pytest.approx(0.5)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert len(guidance.roulette.pool) == MAX_POOL_SIZE + 1


def stationary(choice: MetropolisHastings) -> list[float]:
    """Return the stationary distribution of the chain over ranks."""
    n = len(choice.scores)
    steps = np.array([[choice.acceptance(a, b) for b in range(n)] for a in range(n)])
    # A rejected proposal is drawn again, so rows are normalised.
    steps /= steps.sum(axis=1, keepdims=True)
    share = np.full(n, 1 / n)
    for _ in range(200):
        share = share @ steps
    return list(share)


def test_rules_are_chosen_by_rank() -> None:
    choice = MetropolisHastings()
    for rank, rule in enumerate(RuleName):
        for index in range(20):
            choice.observe(rule, amplified=index >= rank)
    rng = random.Random(2)
    current, counts = None, Counter[str]()

    for _ in range(DRAWS):
        current = choice.choose(rng, current)
        counts[current] += 1

    expected = dict(zip(RuleName, stationary(choice), strict=True))
    # 0.999 quantile for eleven degrees of freedom; draws of a chain are slightly correlated.
    assert chi_squared(counts, {k.value: p for k, p in expected.items()}) < 1.5 * 31.3
    assert counts[RuleName.REMOVAL] > 1.5 * counts[RuleName.NEURON_SWITCH]


def test_the_probability_of_acceptance_follows_the_formula() -> None:
    choice = MetropolisHastings()

    assert choice.acceptance(5, 2) == 1
    assert choice.acceptance(2, 5) == pytest.approx((11 / 12) ** 3)


def mutant(name: str, acc: float) -> Parent:
    return Parent(name=name, seed="lstm", graph=GRAPH, mutations=("LR x",), acc=acc)


def test_a_mutant_that_amplifies_joins_the_pool() -> None:
    guidance = Guidance.begin({"lstm": GRAPH})
    rule = RuleName.COPY
    too_early = guidance.observe(mutant("a", 9), parent="lstm", parent_acc=None, rule=rule)
    guidance.record_seed("lstm", 1.0)
    equal = guidance.observe(mutant("b", 1.0), parent="lstm", parent_acc=None, rule=rule)
    less = guidance.observe(mutant("c", 1.9), parent="b", parent_acc=2.0, rule=rule)

    assert (too_early, equal, less) == (False, True, False)
    assert list(guidance.roulette.pool) == ["lstm", "b"]
    assert guidance.roulette.pool["lstm"].choice_count == 2
    assert guidance.rules.current is rule


def test_without_guidance_every_mutant_that_ran_joins() -> None:
    guidance = Guidance.begin({"lstm": GRAPH}, is_guided=False)
    rule = RuleName.COPY
    guidance.observe(mutant("a", 1.0), parent="lstm", parent_acc=5.0, rule=rule)
    guidance.observe(replace(mutant("b", 1.0), acc=None), parent="a", parent_acc=1.0, rule=rule)

    assert list(guidance.roulette.pool) == ["lstm", "a"]


def test_a_full_pool_drops_the_most_chosen_mutant_and_no_seed() -> None:
    guidance = Guidance.begin({"lstm": GRAPH})
    guidance.roulette.pool["lstm"].choice_count = 999
    for index in range(MAX_POOL_SIZE + 5):
        guidance.observe(mutant(f"m{index}", 2.0), parent="m3", parent_acc=1.0, rule=RuleName.COPY)

    assert len(guidance.roulette.pool) == MAX_POOL_SIZE
    assert "lstm" in guidance.roulette.pool
    assert "m3" not in guidance.roulette.pool


def test_the_random_variant_is_uniform() -> None:
    guidance = Guidance.begin({"a": GRAPH, "b": GRAPH}, is_guided=False)
    guidance.roulette.pool["a"].choice_count = 50
    rng = random.Random(3)

    models = Counter(guidance.parent(rng).name for _ in range(DRAWS))
    rules = Counter(guidance.rules.choose(rng, None).value for _ in range(DRAWS))

    assert chi_squared(models, {"a": 0.5, "b": 0.5}) < 10.9
    assert chi_squared(rules, {rule.value: 1 / 12 for rule in RuleName}) < 31.3


# --- formulas -----------------------------------------------------------------------------------

TRUTH = np.array([[1.0, 0.0], [0.0, 1.0]])
ONE = np.array([[0.9, 0.1], [0.0, 1.0]])
OTHER = np.array([[0.7, 0.3], [0.0, 1.0]])


def test_deviation_and_d_mad_follow_the_formulas_of_the_paper() -> None:
    assert deviations(ONE, TRUTH) == pytest.approx([0.1, 0.0])
    assert d_mad(TRUTH, ONE, OTHER) == pytest.approx([0.2 / 0.4, 0.0])
    assert accumulated_inconsistency(TRUTH, [ONE, OTHER, TRUTH]) == pytest.approx(0.5 + 1.0 + 1.0)


def test_non_finite_outputs_add_no_inconsistency() -> None:
    broken = np.array([[np.nan, 0.0], [np.inf, 1.0]])

    assert list(d_mad(TRUTH, ONE, broken)) == [0.0, 0.0]


def test_different_shapes_are_an_error() -> None:
    with pytest.raises(ValueError, match="shape"):
        deviations(ONE[:1], TRUTH)
    with pytest.raises(ValueError, match="shape"):
        layer_deviation(ONE[:1], TRUTH)


def test_the_layer_where_the_deviation_starts_has_the_largest_rate() -> None:
    deviation = {"x": 0.0, "a": 1e-8, "b": 0.01, "c": 0.02, "d": 0.012}
    inputs = {"a": ("x",), "b": ("a",), "c": ("b",), "d": ("a", "b")}

    rates = change_rates(deviation, inputs)

    assert max(rates, key=lambda name: rates[name]) == "b"
    assert rates["c"] == pytest.approx((0.02 - 0.01) / (0.01 + EPSILON))
    assert rates["d"] == pytest.approx((0.012 - 0.01) / (0.01 + EPSILON))


def test_the_first_layer_with_different_non_finite_outputs_is_the_suspect() -> None:
    nan = np.array([np.nan, 1.0])
    deviation = {"a": layer_deviation(nan, nan), "b": layer_deviation(nan, np.ones(2))}
    deviation["c"] = float("inf")

    rates = change_rates(deviation, {"b": ("a",), "c": ("b",)})

    assert rates == {"a": 0.0, "b": float("inf"), "c": 0.0}


def test_a_batch_without_rows_has_no_inconsistency() -> None:
    empty = np.zeros((0, 3, 2))

    assert accumulated_inconsistency(empty, [empty, empty]) == 0.0
