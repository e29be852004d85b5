"""Preconditions as bounds in the text of exported strategies."""

from __future__ import annotations

import pytest

from ciguard.functions.specs.kinds import Anys, Arrays, IntRange, Lists, Spec
from ciguard.functions.writing.bounds import ArgumentBounds, bounds_of

NUMBERS = IntRange(0, 9)
LISTS = Lists(NUMBERS)


def bounds(condition: str, spec: Spec = NUMBERS) -> ArgumentBounds:
    return bounds_of("x", spec, [condition], ["n", "y"])


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        ("x <= n", [], ["n"]),
        ("x < n", [], ["n - 1"]),
        ("n < x", ["n + 1"], []),
        ("x > 3", ["4"], []),
        ("1 <= x <= 2 * n", ["1"], ["2 * n"]),
        ("x >= n and x <= y", ["n"], ["y"]),
    ],
)
def test_inequalities_become_bounds(condition: str, low: list[str], high: list[str]) -> None:
    argument_bounds = bounds(condition)

    assert argument_bounds.lows.get("value", []) == low
    assert argument_bounds.highs.get("value", []) == high
    assert argument_bounds.assumptions == []


def test_equalities_lengths_shapes_and_multiples_become_bounds() -> None:
    assert bounds("x == n + 1").equals == {"value": "n + 1"}
    assert bounds("n == len(x)", LISTS).equals == {"length": "n"}
    assert bounds("len(x) <= n", LISTS).highs == {"length": ["n"]}
    assert bounds("x.shape == y.shape", Arrays()).equals == {"shape": "y.shape"}
    assert bounds("x % n == 0").multiple_of == "n"
    with_offset = bounds("(x - 4) % 3 == 0")
    assert (with_offset.multiple_of, with_offset.offset) == ("3", "4")


def test_a_condition_on_the_lists_among_several_kinds_becomes_a_bound() -> None:
    argument_bounds = bounds("type(x) is not list or len(x) == n", Anys((NUMBERS, LISTS)))

    assert (argument_bounds.equals, argument_bounds.assumptions) == ({"length": "n"}, [])


@pytest.mark.parametrize(
    ("condition", "spec"),
    [
        ("x != n", NUMBERS),
        ("x == later", NUMBERS),
        ("x * x < n", NUMBERS),
        ("x <= n or n == 2", NUMBERS),
        ("sum(x) < n", LISTS),
        ("x.shape[0] == y.shape[0]", Arrays()),
    ],
)
def test_conditions_that_bounds_cannot_express_are_assumed(condition: str, spec: Spec) -> None:
    argument_bounds = bounds(condition, spec)

    assert argument_bounds.assumptions == [condition]
    assert argument_bounds.is_independent
