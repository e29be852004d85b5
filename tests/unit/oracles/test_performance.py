"""Performance oracle."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Finding, Severity
from ciguard.domain.outcomes import Passed
from ciguard.execution import Measurement, Quantity
from ciguard.oracles import Identity, PerformanceOracle, Subject, is_comparable, rounds_for
from ciguard.oracles.performance import ALPHA
from ciguard.oracles.signed_rank import signed_rank_p

if TYPE_CHECKING:
    from collections.abc import Sequence

OLD, NEW = "torch==2.12.0", "torch==2.13.0"
CASE = ApiCall(api="torch.sort", kind=CallKind.FUNCTION)
US, MIB = 1e3, 2.0**20
CALLS = 64
"""Between two checkpoints."""

seeds = st.integers(0, 2**32)
noise = st.floats(0.0, 0.3)


def subject(**changes: str) -> Subject:
    reference = Identity(request=OLD, packages=(OLD,), version="2.12.0", device="cpu")
    settings = {"version": "2.13.0", "device": "cpu", **changes}
    other = Identity(request=NEW, packages=(NEW,), environment=(), **settings)
    return Subject(library="torch", api=CASE.api, targets={OLD: reference, NEW: other})


def findings_in(
    quantity: Quantity,
    reference: Sequence[float],
    other: Sequence[float],
    *,
    tests: int = 1,
    about: Subject | None = None,
) -> list[Finding]:
    outcomes = {
        name: Passed(
            Measurement(
                quantity=quantity, values=tuple(values), calls=CALLS, tests=tests
            ).encoded(),
            0.0,
        )
        for name, values in ((OLD, reference), (NEW, other))
    }
    return list(PerformanceOracle().judge(CASE, outcomes, about or subject()))


def random_generator(seed: int) -> random.Random:
    return random.Random(seed)


def samples(draw: random.Random, middle: float, sigma: float, count: int) -> list[float]:
    return [middle * draw.lognormvariate(0.0, sigma) for _ in range(count)]


def p_of_all_signs(differences: Sequence[float]) -> float:
    """Compute the p-value by its definition: try every choice of signs."""
    sizes = sorted(abs(d) for d in differences if d)
    ranks = {
        size: sum(i + 1 for i, other in enumerate(sizes) if other == size) / sizes.count(size)
        for size in sizes
    }
    observed = sum(ranks[abs(d)] for d in differences if d > 0)
    sums = [
        sum(ranks[size] for size, is_positive in zip(sizes, signs, strict=True) if is_positive)
        for signs in itertools.product((False, True), repeat=len(sizes))
    ]
    return sum(total >= observed for total in sums) / len(sums)


@given(st.lists(st.integers(-5, 5), max_size=9))
def test_the_p_value_equals_that_of_enumerating_all_signs(differences: list[int]) -> None:
    assert signed_rank_p(differences) == pytest.approx(p_of_all_signs(differences))


@given(st.lists(st.floats(0.1, 1e9), min_size=1, max_size=40))
def test_differences_of_one_sign_have_the_smallest_p_value(differences: list[float]) -> None:
    assert signed_rank_p(differences) == 0.5 ** len(differences)
    assert signed_rank_p([-d for d in differences]) == 1.0


@pytest.mark.parametrize("sigma", [0.05, 1.5])
@pytest.mark.lengthy
def test_the_false_positive_rate_of_equal_targets_is_within_the_level(
    sigma: float,
) -> None:
    draw, level, runs = random_generator(1), 0.05, 2000

    alarms = sum(
        signed_rank_p(
            [b - a for a, b in zip(*(samples(draw, 1.0, sigma, 14) for _ in "ab"), strict=True)]
        )
        < level
        for _ in range(runs)
    )

    # The limit is three standard deviations of a binomial distribution above the level.
    assert alarms / runs < level + 3 * (level * (1 - level) / runs) ** 0.5


# By chance, equal targets may differ significantly, as often as the level allows. Hypothesis would
# find such a sample if its examples were not fixed.
@settings(derandomize=True)
@given(seeds, noise, st.integers(1, 5000))
def test_equal_targets_have_no_finding(seed: int, sigma: float, tests: int) -> None:
    draw = random_generator(seed)
    first, second = (samples(draw, 400 * US, sigma, rounds_for(tests)) for _ in "ab")

    assert findings_in(Quantity.TIME, first, second, tests=tests) == []
    assert findings_in(Quantity.PEAK, first, second, tests=tests) == []


@given(seeds, noise, st.integers(1, 5000))
def test_three_times_the_time_is_found(seed: int, sigma: float, tests: int) -> None:
    draw, rounds = random_generator(seed), rounds_for(tests)
    slow = samples(draw, 300 * US, sigma, rounds)

    (finding,) = findings_in(
        Quantity.TIME, samples(draw, 100 * US, sigma, rounds), slow, tests=tests
    )

    assert (finding.oracle, finding.kind) == ("performance", "slower")
    assert finding.severity is Severity.LOW
    assert finding.targets == (OLD, NEW)


def test_an_excess_in_one_half_of_the_rounds_is_not_a_finding() -> None:
    quiet, busy = [110 * US] * 8, [400 * US] * 8

    for other in (quiet + busy, busy + quiet):
        assert findings_in(Quantity.TIME, [100 * US] * 16, other) == []
    assert findings_in(Quantity.TIME, [100 * US] * 16, busy * 2) != []


def test_an_excess_within_the_references_spread_is_not_a_finding() -> None:
    unsteady = [100 * US, 390 * US] * 8

    assert findings_in(Quantity.TIME, unsteady, [400 * US] * 16) == []
    assert findings_in(Quantity.TIME, unsteady, [1600 * US] * 16) != []
    assert findings_in(Quantity.PEAK, [0.0, 30 * MIB] * 8, [30.1 * MIB] * 16) == []
    assert findings_in(Quantity.PEAK, [0.0, 30 * MIB] * 8, [90 * MIB] * 16) != []


@given(seeds)
def test_a_faster_target_is_not_a_defect(seed: int) -> None:
    draw = random_generator(seed)

    assert (
        findings_in(
            Quantity.TIME, samples(draw, 300 * US, 0.1, 20), samples(draw, 100 * US, 0.1, 20)
        )
        == []
    )


@pytest.mark.parametrize(
    ("quantity", "reference", "other"),
    [
        (Quantity.TIME, 1000 * US, 1400 * US),
        (Quantity.TIME, 3 * US, 12 * US),
        (Quantity.PEAK, 1000, 900_000),
        (Quantity.PEAK, 10 * MIB, 14 * MIB),
    ],
    ids=["ratio of time", "little time", "little memory", "ratio of memory"],
)
def test_a_significant_but_small_excess_is_not_a_finding(
    quantity: Quantity, reference: float, other: float
) -> None:
    assert findings_in(quantity, [reference] * 24, [other] * 24) == []


def test_more_memory_is_found_even_if_the_reference_needs_none() -> None:
    (finding,) = findings_in(Quantity.PEAK, [0.0] * 16, [8 * MIB] * 16)

    assert finding.kind == "more memory"
    assert "8.0 MiB instead of 0.0 MiB" in finding.message


def test_too_few_rounds_are_not_findings() -> None:
    assert findings_in(Quantity.TIME, [100 * US] * 11, [900 * US] * 11) == []
    assert findings_in(Quantity.TIME, [100 * US] * 12, [900 * US] * 12) != []


def test_more_tests_need_more_rounds() -> None:
    few, many = [100 * US] * 12, [900 * US] * 12

    assert findings_in(Quantity.TIME, few, many, tests=10_000) == []
    assert rounds_for(1) >= 12
    assert 0.5 ** rounds_for(10_000) < ALPHA / 10_000


@given(seeds, st.floats(1.2, 100.0), st.integers(8, 20))
def test_memory_that_grows_with_every_call_is_a_leak(
    seed: int, kib: float, checkpoints: int
) -> None:
    draw = random_generator(seed)
    sizes = [
        1e8 + index * CALLS * kib * 1024 + draw.uniform(0, 4096) for index in range(checkpoints)
    ]

    (finding,) = findings_in(Quantity.GROWTH, [1e8] * checkpoints, sizes)

    assert finding.kind == "leak"
    assert "with every call" in finding.message


@pytest.mark.parametrize(
    "sizes",
    [
        [1e8] * 10,
        [1e8 + index * CALLS * 900 for index in range(10)],
        [1e8 + CALLS * 4096 * min(index, 3) for index in range(10)],
        [1e8, *[1e8 + 2**23] * 9],
        [1e8 + 2**20 * (index + 1) ** 0.5 for index in range(0, 100, 10)],
        [1e8 + 2**21 * (1 - 0.6**index) for index in range(10)],
        [1e8 + 2**18 * (index // 3) for index in range(10)],
        [1e8 + index * CALLS * 4096 for index in range(7)],
    ],
    ids=[
        "level",
        "slow",
        "cache that fills",
        "one step",
        "ever slower",
        "warming up",
        "few steps",
        "few checkpoints",
    ],
)
def test_other_growth_is_not_a_leak(sizes: list[float]) -> None:
    assert findings_in(Quantity.GROWTH, [1e8] * len(sizes), sizes) == []


def test_a_leak_on_the_reference_too_is_not_a_finding() -> None:
    sizes = [1e8 + index * CALLS * 4096 for index in range(10)]

    bent = [size + 2**20 * (index % 2) for index, size in enumerate(sizes)]

    assert findings_in(Quantity.GROWTH, sizes, sizes) == []
    assert findings_in(Quantity.GROWTH, bent, sizes) == []


def test_a_slower_device_is_not_a_finding() -> None:
    slow = [100 * US] * 20, [900 * US] * 20

    assert findings_in(Quantity.TIME, *slow, about=subject()) != []
    assert findings_in(Quantity.TIME, *slow, about=subject(device="cuda")) == []
    assert findings_in(Quantity.TIME, *slow, about=subject(version="2.12.0")) == []


def test_ordinary_outcomes_are_not_performance_findings() -> None:
    measured = Measurement(quantity=Quantity.TIME, values=(900 * US,) * 20).encoded()
    outputs = b'["f","1.0"]'

    for first, second in ((outputs, outputs), (outputs, measured), (measured, outputs)):
        outcomes = {OLD: Passed(first, 1e-4), NEW: Passed(second, 9e-4)}
        assert PerformanceOracle().judge(CASE, outcomes, subject()) == []


def test_modes_are_not_measured_against_each_other_nor_among_themselves() -> None:
    eager = Identity(request=OLD, packages=(), version="2.12.0", device="cpu")
    compiled = replace(eager, mode="compile")
    newer = replace(compiled, version="2.13.0")

    assert not is_comparable(eager, compiled)
    assert not is_comparable(eager, newer)
    assert not is_comparable(compiled, newer)
    assert is_comparable(eager, replace(newer, mode="eager"))
