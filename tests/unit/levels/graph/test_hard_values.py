"""Variants of calls with values and sizes at which compilers err."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import pytest
from graph_examples import PAIR, SQUARE, call

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.values import Constant, Explicit, LiteralValue, TensorValue, Uniform
from ciguard.levels.graph.hard_values import (
    with_extreme_size,
    with_hard_numbers,
    with_hard_values,
    with_special_numbers,
)
from ciguard.oracles.relations import tensors_of

if TYPE_CHECKING:
    from ciguard.domain.values import Fill

Vary: TypeAlias = Callable[[ApiCall, random.Random], ApiCall | None]

SIGNED = TensorValue("float32", (3, 4), Uniform(1, -1.0, 1.0))
POSITIVE = TensorValue("float32", (3, 4), Uniform(1, 0.5, 1.0))
WHOLE = TensorValue("int64", (3, 4), Uniform(1, 0.0, 5.0))


@pytest.mark.parametrize("vary", [with_special_numbers, with_hard_numbers])
def test_only_real_floating_numbers_are_replaced(vary: Vary) -> None:
    plain = TensorValue("complex64", (2,), Constant(0))
    rng = random.Random(1)

    assert vary(call("torch.add", plain, PAIR), rng) is None
    assert vary(call("torch.add", WHOLE), rng) is None
    changed = vary(call("torch.add", SQUARE, WHOLE), rng)
    assert changed is not None
    first, second = tensors_of(changed)
    assert first.fill != SQUARE.fill
    assert second == WHOLE


def test_hard_numbers_are_small_large_or_exact() -> None:
    fills = [hard_fill(SIGNED, seed) for seed in range(60)]

    bounds = {fill.high for fill in fills if isinstance(fill, Uniform)}
    assert bounds == {1e-4, 100.0, 1e30}
    listed = [number for fill in fills if isinstance(fill, Explicit) for number in fill.data]
    assert {0.0, 0.5, -2.5, 1.0} <= set(listed)
    assert {math.copysign(1, number) for number in listed if number == 0} == {1.0, -1.0}


def test_hard_numbers_are_positive_where_those_of_the_call_are() -> None:
    for seed in range(60):
        fill = hard_fill(POSITIVE, seed)
        if isinstance(fill, Uniform):
            assert fill.low == 0
        else:
            assert isinstance(fill, Explicit)
            assert min(fill.data) >= 0


def hard_fill(tensor: TensorValue, seed: int) -> Fill:
    changed = with_hard_numbers(call("torch.add", tensor), random.Random(seed))
    assert changed is not None
    (found,) = tensors_of(changed)
    return found.fill


def test_all_axes_of_one_size_get_one_element_or_none() -> None:
    original = call("torch.reshape", SIGNED, POSITIVE, LiteralValue(3))

    shapes = set()
    for seed in range(20):
        changed = with_extreme_size(original, random.Random(seed))
        assert changed is not None
        shapes |= {tensor.shape for tensor in tensors_of(changed)}

    assert shapes == {(1, 4), (3, 1), (0, 4), (3, 0)}
    scalar = TensorValue("float32", (1,), Constant(0))
    assert with_extreme_size(call("torch.exp", scalar), random.Random(0)) is None


def test_results_that_must_be_finite_get_finite_numbers_only() -> None:
    for seed in range(60):
        changed = with_hard_values(
            call("torch.exp", SIGNED), random.Random(seed), keeps_special=False
        )
        assert changed is not None
        (tensor,) = tensors_of(changed)
        assert tensor.shape == SIGNED.shape
        assert not isinstance(tensor.fill, Explicit) or all(map(math.isfinite, tensor.fill.data))
