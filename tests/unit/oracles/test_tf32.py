"""Comparison of targets of which one may round products to TF32."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from finding_examples import finding
from hypothesis import given
from hypothesis import strategies as st
from outcome_examples import passed

from ciguard.domain import dtypes
from ciguard.execution import TensorOutput
from ciguard.oracles.comparing import precision_of, result_epsilon, with_tf32
from ciguard.oracles.comparing.comparison import compare_outputs
from ciguard.oracles.comparing.tolerance import InputPrecision, epsilon_of, relative_tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray

SINGLE = InputPrecision(epsilon=dtypes.EPSILON["float32"], scale=1.0)
DOUBLE = InputPrecision(epsilon=dtypes.EPSILON["float64"], scale=1.0)
SIZES = st.integers(1, 128)


def rounded(x: NDArray[np.float32], *, bits: int) -> NDArray[np.float32]:
    lost = 23 - bits
    whole = x.view(np.uint32) + np.uint32(1 << (lost - 1))
    return (whole & np.uint32((0xFFFFFFFF << lost) & 0xFFFFFFFF)).view(np.float32)


def output(array: NDArray[np.float32]) -> TensorOutput:
    return TensorOutput("float32", array.shape, array)


@given(st.integers(0, 2**32), SIZES, SIZES, SIZES, st.sampled_from([-1.0, 0.0]))
def test_products_in_tf32_agree_with_those_in_single_precision(
    seed: int, rows: int, inner: int, columns: int, low: float
) -> None:
    random = np.random.default_rng(seed)
    x = random.uniform(low, 1.0, (rows, inner)).astype(np.float32)
    y = random.uniform(low, 1.0, (inner, columns)).astype(np.float32)
    inputs = replace(SINGLE, largest=(max(x.size, y.size), min(x.size, y.size)))
    expected = output(x @ y)
    on_device = output(rounded(x, bits=10) @ rounded(y, bits=10))

    assert compare_outputs(expected, on_device, with_tf32(inputs)) is None


def test_coarser_products_and_those_of_targets_without_tf32_do_not_agree() -> None:
    random = np.random.default_rng(1)
    x = random.uniform(-1.0, 1.0, (32, 32)).astype(np.float32)
    inputs = replace(SINGLE, largest=(x.size, x.size))
    expected = output(x @ x)

    coarse = rounded(x, bits=4)
    assert compare_outputs(expected, output(coarse @ coarse), with_tf32(inputs)) is not None
    fine = rounded(x, bits=10)
    assert compare_outputs(expected, output(fine @ fine), inputs) is not None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_tf32_does_not_change_the_tolerance_of_half_precision(dtype: str) -> None:
    tolerance = relative_tolerance(dtype, count=1)

    assert relative_tolerance(dtype, count=1, inputs=with_tf32(InputPrecision())) == tolerance


def test_tf32_does_not_apply_to_double_precision() -> None:
    assert with_tf32(DOUBLE) == DOUBLE
    assert epsilon_of("float32", with_tf32(SINGLE)) == dtypes.TF32_EPSILON


@pytest.mark.parametrize(
    ("target", "uses_tf32"),
    [
        ("torch==2.13.0@cuda tf32", True),
        ("torch==2.13.0@cuda tf32 #2", True),
        ("torch==2.13.0@cuda", False),
        ("torch==2.13.0@cuda compile", False),
        ("a target of another program", False),
    ],
)
def test_findings_of_the_mode_are_compared_with_its_tolerance(
    target: str, *, uses_tf32: bool
) -> None:
    found = finding(passed(1.0), target=target)

    assert precision_of(found).uses_tf32 is uses_tf32
    assert (result_epsilon(found) == dtypes.TF32_EPSILON) is uses_tf32
