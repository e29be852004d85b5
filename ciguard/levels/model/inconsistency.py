"""Deviation of layers' outputs between targets, and its origin among the layers (LEMON, 3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EPSILON = 1e-7
"""ε of formula 4, which avoids a division by 0 for layers whose inputs do not deviate."""


def layer_deviation(output: Floats, other: Floats) -> float:
    """Return Δ of a layer: the mean absolute difference of its outputs on two targets.

    It is `inf` if an element is not finite on one target only; equal infinities and NaN on both do
    not count as differences.

    Raises:
        ValueError: if the shapes differ.
    """
    if output.shape != other.shape:
        msg = f"the layer's outputs have different shapes: {output.shape} and {other.shape}"
        raise ValueError(msg)
    if not output.size:
        return 0.0
    with np.errstate(all="ignore"):
        is_same = (output == other) | (np.isnan(output) & np.isnan(other))
        mean = float(np.where(is_same, 0.0, np.abs(output - other)).mean())
    return mean if np.isfinite(mean) else float("inf")


def change_rates(
    deviation: Mapping[str, float], inputs: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return R_a of formula 4, (Δ_a - Δ_pre) / (Δ_pre + ε), for each layer a.

    Δ_pre is the largest Δ of the layers that produce the inputs of a.

    Args:
        deviation: Δ between two targets, by layer.
        inputs: the layers that produce a layer's inputs, by layer; none for inputs of the graph.

    Returns:
        Rates by layer, in the order of `deviation`; the layer with the largest rate is suspect. The
        rate is `inf` for a layer whose Δ becomes infinite, and 0 for the layers that take its
        output.
    """
    rates = {}
    for name, delta in deviation.items():
        delta_before = max((deviation.get(i, 0.0) for i in inputs.get(name, ())), default=0.0)
        if np.isinf(delta_before):
            rates[name] = 0.0
        else:
            rates[name] = (delta - delta_before) / (delta_before + EPSILON)
    return rates
