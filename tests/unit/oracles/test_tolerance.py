"""Tolerances of results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcome_examples import tensor

from ciguard.domain import dtypes
from ciguard.execution import TensorOutput
from ciguard.oracles.comparing.comparison import compare_outputs
from ciguard.oracles.comparing.tolerance import InputPrecision, inputs_of, relative_tolerance

FLOATS = (*dtypes.FLOATING, *dtypes.COMPLEX)
counts = st.integers(1, 10**6)
inputs = st.builds(
    InputPrecision,
    epsilon=st.sampled_from([0.0, *dtypes.EPSILON.values()]),
    scale=st.floats(0.0, 1.0),
    largest=st.tuples(counts, counts),
    condition=st.floats(0.0, 1e12),
)


@given(st.sampled_from(FLOATS), counts, inputs, st.floats(1.0, 1e6))
def test_an_ill_conditioned_call_has_a_larger_tolerance(
    dtype: str, count: int, inputs: InputPrecision, factor: float
) -> None:
    worse = replace(inputs, condition=inputs.condition * factor)

    assert relative_tolerance(dtype, count=count, inputs=worse) >= relative_tolerance(
        dtype, count=count, inputs=inputs
    )


@given(st.sampled_from(FLOATS), counts, inputs, counts)
def test_longer_sums_have_a_larger_tolerance(
    dtype: str, count: int, inputs: InputPrecision, elements: int
) -> None:
    first, second = inputs.largest
    longer = replace(inputs, largest=(first + elements, second))

    assert relative_tolerance(dtype, count=count, inputs=longer) >= relative_tolerance(
        dtype, count=count, inputs=inputs
    )


@given(counts, inputs)
def test_a_type_with_fewer_digits_has_a_larger_tolerance(
    count: int, inputs: InputPrecision
) -> None:
    ranked = ["float64", "float32", "float16", "bfloat16"]
    allowed = [relative_tolerance(dtype, count=count, inputs=inputs) for dtype in ranked]

    assert allowed == sorted(allowed)


@given(
    st.sampled_from(["float32", "float64"]),
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=6),
    inputs,
)
def test_agreement_in_a_narrow_tolerance_implies_agreement_in_a_wider_one(
    dtype: str, pairs: list[tuple[float, float]], inputs: InputPrecision
) -> None:
    left, right = (np.array(column).astype(dtype) for column in zip(*pairs, strict=True))
    first, second = (TensorOutput(dtype, side.shape, side) for side in (left, right))
    wider = replace(inputs, condition=max(1.0, inputs.condition) * 2)

    difference = compare_outputs(first, second, inputs)

    assert (difference is None) == (compare_outputs(second, first, inputs) is None)
    assert difference is not None or compare_outputs(first, second, wider) is None


@pytest.mark.parametrize(
    ("sizes", "count", "length"),
    [
        ((), 1, 1.0),
        ((12,), 12, 1.0),
        ((12,), 1, 12.0),
        ((12,), 0, 1.0),
        ((12, 3), 4, 3.0),
        ((5 * 7, 7 * 6), 5 * 6, 7.0),
        ((12,), 144, 1.0),
    ],
)
def test_the_length_of_a_sum_follows_from_the_sizes(
    sizes: tuple[int, ...], count: int, length: float
) -> None:
    length = inputs_of([], sizes=sizes).terms_per_element(count)

    assert length == pytest.approx(length)


def test_a_longer_sum_tolerates_a_larger_error() -> None:
    mine, theirs = tensor(1.0), tensor(1.0 + 100 * dtypes.EPSILON["float32"])
    few, many = (inputs_of([("float32", 0.0, 1.0)], sizes=[size]) for size in (1, 100))

    assert compare_outputs(mine, theirs, few) is not None
    assert compare_outputs(mine, theirs, many) is None


@pytest.mark.parametrize("error", [1e-3, 1e-4])
def test_planted_errors_of_single_precision_are_found_in_sums_of_up_to_a_hundred(
    error: float,
) -> None:
    mine, theirs = tensor(1.0), tensor(1.0 + error)

    assert compare_outputs(mine, theirs, inputs_of([("float32", -1.0, 1.0)], sizes=[100]))
