"""Double precision as a reference for rounding in single precision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from model_examples import ALONE, ENGINES, alone, returned, subject

from ciguard.domain.models import Check, Data
from ciguard.domain.outcomes import Outcome, Rejected, Stage
from ciguard.domain.values import ArrayValue, Explicit
from ciguard.levels.model.exact import exact_runs, is_inexact, may_be_inexact
from ciguard.oracles import judge

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding

RIGHT = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
OFF = RIGHT + np.array([[0.0, 0.0, 0.1], [0.0, 0.0, 0.0]])
UNABLE = Rejected("CannotComputeError", "", Stage.BUILD)


def finding(deviating: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = OFF) -> Finding:
    outcomes = dict(zip(ENGINES, (alone(RIGHT), alone(deviating), alone(RIGHT)), strict=True))
    (finding,) = judge(ALONE, outcomes, subject())
    return finding


def exactly(*runs: Outcome) -> dict[str, tuple[Outcome, ...]]:
    return {"torch": runs, "tensorflow": runs, "jax": (UNABLE,) * len(runs)}


def test_a_run_in_double_precision_is_followed_by_two_perturbed_ones() -> None:
    exact, *perturbed = exact_runs(ALONE)

    assert exact == replace(ALONE, dtype="float64")
    assert [run.dtype for run in perturbed] == ["float64"] * 2
    assert len({run.nudge for run in (exact, *perturbed)}) == 3
    assert isinstance(ALONE.data[0], ArrayValue)
    assert all(run.data != ALONE.data for run in perturbed)


def test_inputs_of_a_run_in_double_precision_move_by_its_own_rounding() -> None:
    data = tuple(ArrayValue("float64", value.shape, value.fill) for value in ALONE.data)  # type: ignore[union-attr]
    exact, *perturbed = exact_runs(replace(ALONE, data=data, dtype="float64"))

    assert [run.nudge for run in (exact, *perturbed)] == [0, 0, 0]
    for run in perturbed:
        numbers = np.array(elements(run.data[0]))
        moved = np.abs(numbers / np.array(elements(perturbed[0].data[0])) - 1.0)
        assert moved.max() < 1e-15
    assert perturbed[0].data != perturbed[1].data


def elements(data: Data) -> tuple[float, ...]:
    assert isinstance(data, ArrayValue)
    assert isinstance(data.fill, Explicit)
    return data.fill.data


def test_equal_inputs_are_perturbed_differently_and_zeros_for_gradients() -> None:
    numbers = (1.0, 2.0, 0.0, 4.0)
    equal = ArrayValue("float32", (2, 2), Explicit(numbers))
    merged = replace(ALONE, data=(equal, equal))

    for check in (Check.PREDICT, Check.TRAIN):
        for run in exact_runs(replace(merged, check=check))[1:]:
            first, second = (elements(data) for data in run.data)
            assert first != second
            assert (first[2] == 0.0) is (check is Check.PREDICT)
            assert np.allclose(first, numbers, atol=1e-6)


@pytest.mark.parametrize(
    ("perturbation", "explained"), [(0.0, False), (1e-6, False), (0.02, True), (0.5, True)]
)
def test_a_difference_within_the_condition_of_the_layer_is_rounding(
    perturbation: float, *, explained: bool
) -> None:
    runs = exactly(alone(RIGHT), alone(RIGHT + perturbation), alone(RIGHT - perturbation))

    assert is_inexact(finding(), ALONE, runs) is explained


def test_a_difference_without_double_precision_is_no_rounding() -> None:
    assert not is_inexact(finding(), ALONE, dict.fromkeys(ENGINES, (UNABLE,) * 3))


def test_a_difference_in_double_precision_too_is_no_rounding() -> None:
    first, second = (alone(RIGHT),) * 3, (alone(OFF),) * 3

    assert not is_inexact(finding(), ALONE, {"torch": first, "tensorflow": second})


@pytest.mark.parametrize("order", [("torch", "tensorflow"), ("tensorflow", "torch")])
def test_a_targets_own_condition_does_not_excuse_it(order: tuple[str, str]) -> None:
    """Half precision inside a layer makes it look ill-conditioned, but on that target only."""
    accurate = (alone(RIGHT),) * 3
    half_precision = (alone(OFF), alone(OFF + 0.1), alone(OFF - 0.1))
    runs = {"torch": accurate, "tensorflow": half_precision}

    assert not is_inexact(finding(), ALONE, {name: runs[name] for name in order})


@pytest.mark.parametrize("wrong", [np.nan, 0.7], ids=["beyond its range", "beyond a jump"])
def test_a_result_beyond_single_precision_is_inexact(wrong: float) -> None:
    outcomes = dict(zip(ENGINES, (alone(RIGHT + 0.4), alone(RIGHT + wrong)), strict=False))
    (finding,) = judge(ALONE, outcomes, subject())

    assert is_inexact(finding, ALONE, exactly(*(alone(RIGHT),) * 3))
    assert not is_inexact(finding, ALONE, exactly(*(alone(RIGHT + 0.4),) * 3))


def test_nan_where_the_exact_result_has_none_is_no_rounding() -> None:
    wrong = finding(np.full_like(RIGHT, np.nan))
    runs = exactly(alone(RIGHT), alone(RIGHT + 0.5), alone(RIGHT - 0.5))

    assert may_be_inexact(wrong)
    assert not is_inexact(wrong, ALONE, runs)


@pytest.mark.parametrize(("dtype", "explained"), [("float16", True), ("", False)])
def test_half_precision_rounds_more_coarsely(dtype: str, *, explained: bool) -> None:
    case = replace(ALONE, dtype=dtype)
    off = finding(RIGHT * (1 + 2**-9))

    assert is_inexact(off, case, exactly(*(alone(RIGHT),) * 3)) is explained


def test_only_numbers_can_be_inexact() -> None:
    shape = finding(OFF[:1])

    assert shape.kind == "shape"
    assert not may_be_inexact(shape)
    assert not may_be_inexact(replace(finding(), oracle="crash"))
    assert exact_runs(replace(ALONE, check=Check.TRAIN))[0].check is Check.TRAIN


@pytest.mark.parametrize(
    ("largest", "off", "explained"), [(1e24, 1e16, True), (1.0, 0.1, False), (1e24, 1e20, False)]
)
def test_cancelling_gradients_keep_the_rounding_of_the_incoming_gradient(
    largest: float, off: float, *, explained: bool
) -> None:
    """For example a softmax with a probability of 1: its derivative is zero except for rounding."""
    data = ArrayValue("float32", (2, 2), Explicit((largest, 1.0, 0.0, -0.35)))
    case = replace(ALONE, check=Check.TRAIN, data=(data,))
    zeros = np.zeros((2, 3), np.float32)
    right, wrong = (
        returned({"loss": np.float32(0.43), "gradients": {"layer/kernel": zeros + by}})
        for by in (0.0, off)
    )
    (finding,) = judge(case, dict(zip(ENGINES, (right, wrong, right), strict=True)), subject())

    assert is_inexact(finding, case, exactly(right, right, right)) is explained
