"""Perturbed inputs: they distinguish rounding from defects."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_examples import ALONE, ENGINES, alone
from model_examples import subject as layer_subject
from outcome_examples import NEW, OLD, case, passed, subject

from ciguard.domain import dtypes
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    Uniform,
    Value,
    value_to_json,
)
from ciguard.execution.worker.fills import elements
from ciguard.oracles import judge
from ciguard.oracles.comparing import is_explained_by_rounding, may_be_rounding, perturb_case
from ciguard.oracles.metamorphic import MetamorphicOracle

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ciguard.domain.findings import Finding

    Compute = Callable[[NDArray[np.float32]], NDArray[np.float32]]

HILBERT = tuple(1.0 / (row + column + 1) for row in range(5) for column in range(5))
"""Condition number 4.8e5: of the seven digits of single precision one or two are left."""
MATRIX = TensorValue("float32", (5, 5), Explicit(HILBERT))
PLAIN = TensorValue("float32", (5, 5), Explicit(tuple(range(1, 26))))


def inverse(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the inverse by elimination in single precision; numpy's own computes in double."""
    size = len(matrix)
    both = np.hstack([matrix, np.eye(size, dtype=np.float32)])
    for row in range(size):
        both[row] /= both[row, row]
        for second in range(size):
            if second != row:
                both[second] -= both[row] * both[second, row]
    return both[:, size:]


def inverse_in_another_order(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    return inverse(matrix[::-1, ::-1])[::-1, ::-1]


def wrong_exponential(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.exp(matrix / 25) * np.float32(1.0001)


def exponential(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.exp(matrix / 25)


def elements_of(value: Value) -> NDArray[np.float32]:
    assert isinstance(value, TensorValue)
    array: NDArray[np.float32] = elements(value_to_json(value)[3], value.dtype, value.shape)
    return array


def outcomes_on_both(matrix: Value, first: Compute, second: Compute) -> dict[str, Outcome]:
    computed = {OLD: first(elements_of(matrix)), NEW: second(elements_of(matrix))}
    return {name: passed(*array.ravel().tolist()) for name, array in computed.items()}


def judge_on_both(matrix: TensorValue, first: Compute, second: Compute) -> tuple[Finding, bool]:
    """Return the finding of a call on two targets, and whether rounding explains it."""
    call = case(matrix)
    (finding,) = judge(call, outcomes_on_both(matrix, first, second), subject())
    (moved,) = perturb_case(call, 1).values
    near = outcomes_on_both(moved, first, second)
    return finding, is_explained_by_rounding(
        finding, {name: [outcome] for name, outcome in near.items()}
    )


def test_two_ways_to_invert_a_nearly_singular_matrix_differ_by_rounding_only() -> None:
    finding, explained = judge_on_both(MATRIX, inverse, inverse_in_another_order)

    assert (finding.kind, explained) == ("values", True)


def test_an_error_in_the_fourth_digit_of_a_well_conditioned_call_is_not_rounding() -> None:
    finding, explained = judge_on_both(PLAIN, exponential, wrong_exponential)

    assert (finding.kind, explained) == ("values", False)


def test_an_index_that_depends_on_the_last_digit_is_rounding() -> None:
    whole = TensorValue("float32", (3,), Constant(2.0))

    def down(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        result: NDArray[np.float32] = np.floor(numbers)
        return result

    def nearest(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        return down(numbers * np.float32(0.9999999))

    finding, explained = judge_on_both(whole, down, nearest)

    assert (finding.kind, explained) == ("values", True)


def finding_of(first: Outcome, second: Outcome) -> Finding:
    (finding,) = judge(case(), {OLD: first, NEW: second}, subject())
    return finding


def test_repetitions_as_far_apart_as_the_targets_explain_the_difference() -> None:
    finding = finding_of(passed(1.0), passed(1.001))

    assert not is_explained_by_rounding(finding, {OLD: [passed(1.0)], NEW: [passed(1.001)]})
    assert is_explained_by_rounding(finding, {OLD: [passed(1.0005)], NEW: [passed(1.001)]})


def test_the_condition_of_a_layer_is_measured_on_the_elected_target() -> None:
    right, off = np.array([[0.2, 0.8]]), np.array([[0.2, 0.9]])
    outcomes = dict(zip(ENGINES, map(alone, (right, off, right)), strict=True))
    (finding,) = judge(ALONE, outcomes, layer_subject())
    reference, deviating = finding.targets
    steady, coarse = [alone(right)], [alone(off + 0.2)]

    assert not is_explained_by_rounding(finding, {reference: steady, deviating: coarse})
    assert is_explained_by_rounding(
        finding, {reference: [alone(right + 0.2)], deviating: [alone(off)]}
    )


@pytest.mark.parametrize(
    "near", [Rejected("LinAlgError", "singular"), passed(1.0, 2.0), Passed(b"?", 0.0)]
)
def test_a_perturbed_call_with_another_result_form_explains_the_difference(near: Outcome) -> None:
    assert is_explained_by_rounding(finding_of(passed(1.0), passed(1.1)), {OLD: [near]})


def test_a_type_whose_rounding_is_unknown_is_compared_exactly() -> None:
    finding = finding_of(passed(1, dtype="int32"), passed(2, dtype="int32"))

    assert is_explained_by_rounding(finding, {OLD: [passed(2, dtype="int32")]})
    assert not is_explained_by_rounding(finding, {OLD: [passed(1, dtype="int32")]})


def test_only_differences_of_values_may_be_rounding() -> None:
    assert may_be_rounding(finding_of(passed(1.0), passed(2.0)))
    assert may_be_rounding(finding_of(passed(1.0), passed(float("nan"))))
    assert not may_be_rounding(finding_of(passed(1.0), passed(1.0, 2.0)))


@given(
    st.sampled_from(["float16", "float32", "float64"]),
    st.integers(0, 65535),
    st.sampled_from([(0.5, 4.0), (-3.0, 3.0), (0.0, 1.0)]),
)
def test_every_element_is_perturbed_by_one_rounding(
    dtype: str, seed: int, span: tuple[float, float]
) -> None:
    tensor = TensorValue(dtype, (2, 3), Uniform(seed, *span))

    (moved,) = perturb_case(case(tensor), seed).values

    assert isinstance(moved, TensorValue)
    before, after = (elements_of(value).astype("float64") for value in (tensor, moved))
    normal = np.abs(before) > np.finfo(dtype).tiny
    relative = np.abs(after - before)[normal] / np.abs(before)[normal]
    assert (relative > 0).all()
    assert (relative <= 2 * dtypes.EPSILON[dtype]).all()


@pytest.mark.parametrize(
    "value",
    [
        TensorValue("int32", (2,), Constant(3)),
        TensorValue("complex64", (2,), Constant(3.0)),
        TensorValue("float32", (100, 100), Constant(3.0)),
        LiteralValue(3),
        LiteralValue(float("nan")),
        LiteralValue("nearest"),
    ],
)
def test_integers_and_large_tensors_are_not_perturbed(value: Value) -> None:
    assert perturb_case(case(value), 1).values == (value,)


def test_the_numbers_of_a_call_without_tensors_are_perturbed() -> None:
    alone = perturb_case(case(LiteralValue(0.5)), 1).values[0]
    beside = perturb_case(case(TensorValue("float32", (1,), Constant(1.0)), LiteralValue(0.5)), 1)

    assert isinstance(alone, LiteralValue)
    assert isinstance(alone.value, float)
    assert 0 < abs(alone.value - 0.5) <= 0.5 * 2.0**-23
    assert beside.values[1] == LiteralValue(0.5)


def test_nested_tensors_are_perturbed_and_nan_stays() -> None:
    inner = ArrayValue("float32", (2,), Explicit((1.0, float("nan"))))
    held = (
        ListValue((inner,)),
        DictValue((("x", inner),)),
        CallValue("torch.t", (inner,), (("y", inner),)),
        TensorValue("float64", (3,), Special(4)),
    )

    moved = perturb_case(case(*held), 3).values

    assert all(first != second for first, second in zip(held[:3], moved[:3], strict=True))
    assert repr(moved).count("nan") >= repr(held).count("nan")


def outcome_of_check(*items: object) -> Passed:
    """Return the outcome of a call whose gradient was checked."""
    ended = ["L", "list", items, len(items)]
    return Passed(json.dumps(["L", "list", [["f", "1.0"], ended], 2]).encode(), 0.1)


FAILED = outcome_of_check(["s", "raised"], ["s", "GradcheckError"], ["s", "Jacobian mismatch"])
HELD = outcome_of_check(["s", "returned"], ["o", "True"])


def test_a_gradient_that_is_wrong_at_one_point_only_is_a_kink() -> None:
    tied = TensorValue("float32", (2,), Uniform(5, 0.0, 1.0))
    call = replace(case(tied, tied), api="torch.maximum", relation="numeric gradient")
    (finding,) = MetamorphicOracle().judge(call, {OLD: FAILED}, subject())

    first, second = perturb_case(call, 1).values

    assert may_be_rounding(finding)
    assert first != second
    for moved in (first, second):
        assert isinstance(moved, TensorValue)
        assert isinstance(moved.fill, Uniform)
        assert 0.0 < moved.fill.low < moved.fill.high < 1.0
    assert is_explained_by_rounding(finding, {OLD: [FAILED, HELD]})
    assert not is_explained_by_rounding(finding, {OLD: [FAILED, FAILED]})
