"""Inconsistency of targets' outputs, and its origin among layers (LEMON, sections 2.2, 3.2).

All arrays have the batch dimension first. Numbers that are not finite are ignored, since oracles
compare them.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EPSILON = 1e-7
"""ε of formula 4, which avoids a division by 0 for layers whose inputs do not deviate."""


def deviations(outputs: Floats, truth: Floats) -> Floats:
    """Return δ of formula 1: mean |O_i - G_i| over the elements of the output for each input.

    Args:
        outputs: O, the outputs of one target, shape (n, …).
        truth: G, the expected outputs, same shape.

    Returns:
        One number >= 0 per input, shape (n,).

    Raises:
        ValueError: if the shapes differ.
    """
    if outputs.shape != truth.shape:
        msg = f"the outputs have the shape {outputs.shape}, the expected outputs {truth.shape}"
        raise ValueError(msg)
    distances = np.abs(outputs - truth).reshape(len(outputs), math.prod(outputs.shape[1:]))
    return np.asarray(distances.mean(axis=1), dtype=np.float64)


def d_mad(truth: Floats, outputs: Floats, other: Floats) -> Floats:
    """Return D_MAD of formula 2: |δ(O_j, G) - δ(O_k, G)| / (δ(O_j, G) + δ(O_k, G)).

    Args:
        truth: G, the expected outputs, shape (n, …).
        outputs: O_j, the outputs of a target, same shape.
        other: O_k, the outputs of another target, same shape.

    Returns:
        One number in [0, 1] per input, shape (n,); 0 if both outputs equal the expected one, or if
        an output is not finite.

    Raises:
        ValueError: if the shapes differ.
    """
    with np.errstate(all="ignore"):
        left, right = deviations(outputs, truth), deviations(other, truth)
        total = left + right
        share = np.abs(left - right) / total
    return np.where(np.isfinite(share), share, 0.0)


def accumulated_inconsistency(truth: Floats, outputs: Sequence[Floats]) -> float:
    """Return ACC of formula 5: D_MAD summed over all inputs and all pairs of targets.

    Args:
        truth: the expected outputs, shape (n, …).
        outputs: the outputs of each target, same shape.

    Raises:
        ValueError: if the shapes differ.
    """
    return float(sum(d_mad(truth, a, b).sum() for a, b in combinations(outputs, 2)))


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
