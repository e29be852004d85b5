"""Variants of a case: simpler each, and following them leads to the least that still fails."""

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


def minimal(case: ApiCall, fails: Callable[[ApiCall], bool]) -> ApiCall:
    """Follow the first variant that fails, to the end."""
    while better := next(filter(fails, map(as_call, reductions(case))), None):
        case = better
    return case


@given(CASES)
@pytest.mark.lengthy
def test_every_variant_is_simpler_and_none_comes_twice(case: ApiCall) -> None:
    keys = [simplicity(variant) for variant in reductions(case)]

    assert keys == sorted(set(keys))
    assert all(key < simplicity(case) for key in keys)


@given(CASES)
def test_variants_lead_to_an_end(case: ApiCall) -> None:
    assert reductions(minimal(case, lambda _: True)) == []


@given(CASES)
def test_explicit_elements_fit_their_shape(case: ApiCall) -> None:
    for variant in reductions(case):
        for value in variant.values:
            if isinstance(value, TensorValue) and isinstance(value.fill, Explicit):
                count = 1
                for size in value.shape:
                    count *= size
                assert count == len(value.fill.data)


@pytest.mark.parametrize("api_seed", range(3))
def test_what_is_left_is_what_the_failure_needs(api_seed: int) -> None:
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

    assert minimal(case, fails) == call(
        TensorValue("float32", (1, 1), Constant(0)), ListValue((LiteralValue(-10_000),))
    )


def test_an_empty_tensor_is_no_variant_of_one_with_elements() -> None:
    case = call(TensorValue("float32", (2, 2), Constant(0)))

    shapes = {
        value.shape
        for v in reductions(case)
        for value in v.values
        if isinstance(value, TensorValue)
    }

    assert shapes == {(), (2,), (1, 2), (2, 1), (1, 1)}


def test_arrays_that_must_fit_each_other_get_smaller_together() -> None:
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
    assert minimal(call(left, right), fails) == call(least, least)


def test_one_element_of_each_array_stands_for_all() -> None:
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

    assert minimal(call(numbers, divisors), fails) == call(
        TensorValue("int32", (), Constant(-128)), TensorValue("int32", (), Constant(-1))
    )


@settings(max_examples=30, deadline=None)
@given(CASES)
@example(call(TensorValue("float32", (0, 3), Explicit(()))))
@pytest.mark.slow
def test_variants_of_variants_can_be_made(case: ApiCall) -> None:
    for variant in reductions(case)[-8:]:
        assert all(simplicity(least) < simplicity(variant) for least in reductions(variant))


def test_a_scalar_beside_a_vector_is_no_obstacle() -> None:
    case = call(
        TensorValue("int64", (), Explicit((3,))), TensorValue("float32", (4,), Uniform(0, 0.0, 1.0))
    )

    assert call(
        TensorValue("int64", (), Explicit((3,))), TensorValue("float32", (), Constant(0))
    ) in [v for one in reductions(case) for v in reductions(one)]


def test_a_large_array_is_not_built_to_be_simplified() -> None:
    case = call(TensorValue("float32", (2**40,), Uniform(0, 0.0, 1.0)))

    assert call(TensorValue("float32", (1,), Constant(0))) in [
        v for one in reductions(case) for v in reductions(one)
    ]


def test_a_negative_zero_is_told_from_zero() -> None:
    case = call(
        TensorValue("float32", (2,), Explicit((0.0, 1.0))),
        TensorValue("float32", (2,), Explicit((-0.0, 1.0))),
    )

    alone = call(
        TensorValue("float32", (), Constant(0.0)), TensorValue("float32", (), Constant(-0.0))
    )
    assert repr(alone) in map(repr, reductions(case))
