"""Deviation of layers between targets, compared with LEMON's formulas."""

from __future__ import annotations

import numpy as np
import pytest

from ciguard.levels.model.inconsistency import EPSILON, change_rates, layer_deviation


def test_different_shapes_are_an_error() -> None:
    with pytest.raises(ValueError, match="shape"):
        layer_deviation(np.ones((1, 2)), np.ones((2, 2)))


def test_the_layer_where_the_deviation_starts_has_the_largest_rate() -> None:
    deviation = {"x": 0.0, "a": 1e-8, "b": 0.01, "c": 0.02, "d": 0.012}
    inputs = {"a": ("x",), "b": ("a",), "c": ("b",), "d": ("a", "b")}

    rates = change_rates(deviation, inputs)

    assert max(rates, key=lambda name: rates[name]) == "b"
    assert rates["c"] == pytest.approx((0.02 - 0.01) / (0.01 + EPSILON))
    assert rates["d"] == pytest.approx((0.012 - 0.01) / (0.01 + EPSILON))


def test_the_first_layer_with_different_non_finite_outputs_is_the_suspect() -> None:
    nan = np.array([np.nan, 1.0])
    deviation = {"a": layer_deviation(nan, nan), "b": layer_deviation(nan, np.ones(2))}
    deviation["c"] = float("inf")

    rates = change_rates(deviation, {"b": ("a",), "c": ("b",)})

    assert rates == {"a": 0.0, "b": float("inf"), "c": 0.0}


def test_an_output_without_elements_does_not_deviate() -> None:
    assert layer_deviation(np.zeros((0, 3)), np.zeros((0, 3))) == 0.0
