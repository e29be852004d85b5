"""Guided explorations are counted as LEMON counts, and compared in pairs."""

from __future__ import annotations

import pytest
from model_guidance import Exploration, compared


def exploration(*largest: float, seed: float = 0.1) -> Exploration:
    made = Exploration(seeds={"lenet": seed})
    for at, value in enumerate(largest):
        made.mutants["lenet"]["torch", "jax", at] = value
    return made


def test_an_inconsistency_is_a_d_mad_above_the_threshold() -> None:
    assert exploration(0.4, 0.41, 1.0).inconsistencies("lenet") == 2


def test_amplification_is_held_against_the_seed_model() -> None:
    assert exploration(0.2, 0.4, seed=0.1).amplification("lenet") == pytest.approx(4.0)


def test_no_difference_at_all_counts_as_a_tiny_one() -> None:
    assert exploration(0.0, seed=0.0).amplification("lenet") == pytest.approx(1.0)


def test_guided_runs_that_all_do_better_are_significant() -> None:
    guided = [exploration(0.5 + at / 10, 0.9) for at in range(5)]
    random = [exploration(0.1, 0.2) for _ in range(5)]

    _, inconsistencies, amplified, *_ = compared(guided, random)

    assert (inconsistencies.guided, inconsistencies.random) == (2.0, 0.0)
    assert inconsistencies.p == pytest.approx(1 / 32)
    assert amplified.guided == pytest.approx(9.0)
