"""A fill gives the same elements everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.dtypes import FLOATING, INTEGERS
from ciguard.execution.worker.fills import elements, special_values, storage_dtype

ANY_DTYPE = st.sampled_from(["bool", "string", "complex64", *FLOATING, *INTEGERS])


def test_a_uniform_fill_is_stable() -> None:
    drawn = elements(["u", 5, -1.0, 1.0], "float64", [3])

    assert drawn.tolist() == [0.29178822613331223, -0.12482557747461498, 0.7835460015641595]


@given(ANY_DTYPE, st.integers(0, 2**40), st.lists(st.integers(0, 5), max_size=3))
def test_a_fill_gives_its_dtype_and_shape(dtype: str, seed: int, shape: list[int]) -> None:
    for fill in (["u", seed, -3.0, 7.0], ["s", seed], ["k", 1]):
        array = elements(fill, dtype, shape)

        assert array.shape == tuple(shape)
        assert array.dtype == storage_dtype(dtype)


@given(st.sampled_from(INTEGERS), st.lists(st.integers(-(2**62), 2**62), max_size=5))
def test_integers_beyond_the_range_of_a_dtype_wrap_around(dtype: str, numbers: list[int]) -> None:
    array = elements(["x", numbers], dtype, [len(numbers)])

    assert array.dtype == np.dtype(dtype)
    modulus = 2 ** np.iinfo(dtype).bits
    for value, number in zip(array, numbers, strict=True):
        assert (int(value) - number) % modulus == 0
    for number in numbers:
        (constant,) = elements(["k", number], dtype, [1])
        assert (int(constant) - number) % modulus == 0


@given(
    st.sampled_from(INTEGERS), st.integers(0), st.integers(-(2**70), 2**70), st.integers(0, 2**66)
)
def test_integers_stay_in_the_ranges_of_the_fill_and_the_dtype(
    dtype: str, seed: int, low: int, width: int
) -> None:
    limits = np.iinfo(dtype)
    array = elements(["u", seed, low, low + width], dtype, [50])

    allowed_low = min(max(low, limits.min), limits.max)
    allowed_high = max(min(low + width, limits.max), limits.min)
    assert int(array.min()) >= allowed_low
    assert int(array.max()) <= allowed_high


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64", "bool", "int32", "uint64"])
def test_a_range_that_is_used_often_keeps_its_elements(dtype: str) -> None:
    fills = [["u", seed, -2.5, 1000.0] for seed in (3, 65_535, 2**40 + 60_000)]
    first = [elements(fill, dtype, [2, 300]) for fill in fills]
    for seed in range(200):
        elements(["u", seed, -2.5, 1000.0], dtype, [1])

    for fill, expected in zip(fills, first, strict=True):
        again = elements(fill, dtype, [2, 300])

        np.testing.assert_array_equal(again, expected)
        again[:] = 0  # a call may change its arguments
        np.testing.assert_array_equal(elements(fill, dtype, [2, 300]), expected)


@given(st.integers(0), st.integers(0, 200_000))
def test_a_large_array_is_filled_whole(seed: int, count: int) -> None:
    array = elements(["u", seed, 2.0, 3.0], "float32", [count])

    assert array.shape == (count,)
    assert ((array >= 2.0) & (array <= 3.0)).all()


def test_special_values_hold_nan_and_both_infinities() -> None:
    values = special_values("float16")

    assert np.isnan(values).any()
    assert np.isposinf(values).any()
    assert np.isneginf(values).any()


def test_an_explicit_fill_must_fit_its_shape() -> None:
    with pytest.raises(ValueError, match="has 2 elements, the shape needs 3"):
        elements(["x", [1, 2]], "int32", [3])


def test_explicit_elements_may_be_nan() -> None:
    array = elements(["x", ["nan", 1.5]], "float32", [2])

    assert np.isnan(array[0])
    assert array[1] == 1.5
