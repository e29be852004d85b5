"""Reductions of a case: simpler variants, which lead to a minimal failing case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from call_strategies import CASES
from finding_examples import call
from hypothesis import example, given, settings

from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.values import Constant, Explicit, ListValue, LiteralValue, TensorValue, Uniform
from ciguard.triage import simplicity
from ciguard.triage.reductions import reductions
from ciguard.writing import content

if TYPE_CHECKING:
    from collections.abc import Callable


def minimise(case: ApiCall, fails: Callable[[ApiCall], bool]) -> ApiCall:
    """Follow the first variant that fails, to the end."""
    while better := next(filter(fails, map(as_call, reductions(case))), None):
        case = better
    return case


@given(CASES)
@pytest.mark.lengthy
def test_reductions_are_distinct_and_simpler(case: ApiCall) -> None:
    keys = [simplicity(variant) for variant in reductions(case)]

    assert keys == sorted(set(keys))
    assert all(key < simplicity(case) for key in keys)


@given(CASES)
def test_repeated_reduction_ends(case: ApiCall) -> None:
    assert reductions(minimise(case, lambda _: True)) == []


@given(CASES)
def test_reductions_keep_elements_consistent_with_shapes(case: ApiCall) -> None:
    for variant in reductions(case):
        for value in variant.values:
            if isinstance(value, TensorValue) and isinstance(value.fill, Explicit):
                count = 1
                for size in value.shape:
                    count *= size
                assert count == len(value.fill.data)


@pytest.mark.parametrize("api_seed", range(3))
def test_repeated_reduction_keeps_only_what_the_failure_needs(api_seed: int) -> None:
    case = call(
        TensorValue("bfloat16", (2, 3, 4), Uniform(api_seed, -3.0, 3.0)),
        ListValue((LiteralValue(5), LiteralValue(-70_000), LiteralValue(9))),
        keywords=(("dim", LiteralValue(3)), ("name", LiteralValue("a name"))),
    )

    def fails(variant: ApiCall) -> bool:
        tensors = [v for v in variant.values if isinstance(v, TensorValue)]
        lists = [v for v in variant.values if isinstance(v, ListValue)]
        numbers = [i.value for v in lists for i in v.items if isinstance(i, LiteralValue)]
        is_large = any(isinstance(n, int) and n <= -10_000 for n in numbers)
        return is_large and any(len(v.shape) >= 2 for v in tensors)

    assert minimise(case, fails) == call(
        TensorValue("float32", (1, 1), Constant(0)), ListValue((LiteralValue(-10_000),))
    )


def test_reductions_of_a_tensor_are_not_empty_tensors() -> None:
    case = call(TensorValue("float32", (2, 2), Constant(0)))

    shapes = {
        value.shape
        for v in reductions(case)
        for value in v.values
        if isinstance(value, TensorValue)
    }

    assert shapes == {(), (2,), (1, 2), (2, 1), (1, 1)}


def test_reductions_shrink_dependent_shapes_together() -> None:
    left = TensorValue("float32", (6, 4), Constant(0))
    right = TensorValue("float32", (4, 5), Constant(0))

    def fails(variant: ApiCall) -> bool:
        shapes = [v.shape for v in variant.values if isinstance(v, TensorValue)]
        return (
            len(shapes) == 2
            and len(shapes[0]) == 2 == len(shapes[1])
            and shapes[0][1] == shapes[1][0]
        )

    least = TensorValue("float32", (1, 1), Constant(0))
    assert minimise(call(left, right), fails) == call(least, least)


def test_reductions_replace_arrays_by_elements_at_one_position() -> None:
    numbers = TensorValue("int32", (2, 3), Explicit((5, 6, 7, 8, -128, 9)))
    divisors = TensorValue("int32", (3,), Explicit((1, -1, 2)))

    def fails(variant: ApiCall) -> bool:
        arrays = [v for v in variant.values if isinstance(v, TensorValue)]
        if len(arrays) != 2 or any(a.dtype != "int32" for a in arrays):
            return False
        try:
            pairs = np.broadcast(*(content(a) for a in arrays))
        except ValueError:
            return False
        return (-128, -1) in [(int(a), int(b)) for a, b in pairs]

    assert minimise(call(numbers, divisors), fails) == call(
        TensorValue("int32", (), Constant(-128)), TensorValue("int32", (), Constant(-1))
    )


@settings(max_examples=30, deadline=None)
@given(CASES)
@example(call(TensorValue("float32", (0, 3), Explicit(()))))
@pytest.mark.slow
def test_reductions_of_reductions_are_simpler(case: ApiCall) -> None:
    for variant in reductions(case)[-8:]:
        assert all(simplicity(least) < simplicity(variant) for least in reductions(variant))


def test_reductions_of_a_vector_beside_a_scalar_reach_scalars() -> None:
    case = call(
        TensorValue("int64", (), Explicit((3,))), TensorValue("float32", (4,), Uniform(0, 0.0, 1.0))
    )

    assert call(
        TensorValue("int64", (), Explicit((3,))), TensorValue("float32", (), Constant(0))
    ) in [variant for first in reductions(case) for variant in reductions(first)]


def test_reductions_of_a_huge_array_do_not_build_it() -> None:
    case = call(TensorValue("float32", (2**40,), Uniform(0, 0.0, 1.0)))

    assert call(TensorValue("float32", (1,), Constant(0))) in [
        variant for first in reductions(case) for variant in reductions(first)
    ]


def test_reductions_distinguish_negative_zero() -> None:
    case = call(
        TensorValue("float32", (2,), Explicit((0.0, 1.0))),
        TensorValue("float32", (2,), Explicit((-0.0, 1.0))),
    )

    alone = call(
        TensorValue("float32", (), Constant(0.0)), TensorValue("float32", (), Constant(-0.0))
    )
    assert repr(alone) in map(repr, reductions(case))
