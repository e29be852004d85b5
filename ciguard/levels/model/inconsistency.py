"""Inconsistency of targets' outputs, and its origin among layers (LEMON, sections 2.2, 3.2).

All arrays have the batch dimension first. Numbers that are not finite are ignored: differences in
them are judged elsewhere.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EPSILON = 1e-7
"""ε of formula 4, for layers without a layer before them."""


def deviations(outputs: Floats, truth: Floats) -> Floats:
    """Return δ of formula 1: mean |O_i - G_i| over the m elements of each input's output.

    Args:
        outputs: outputs of one target, shape (n, …).
        truth: expected outputs, same shape.

    Returns:
        One number per input, >= 0, shape (n,).

    Raises:
        ValueError: if the shapes differ.
    """
    if outputs.shape != truth.shape:
        msg = f"outputs of shape {outputs.shape} for a truth of shape {truth.shape}"
        raise ValueError(msg)
    distances = np.abs(outputs - truth).reshape(len(outputs), -1)
    return np.asarray(distances.mean(axis=1), dtype=np.float64)


def d_mad(truth: Floats, outputs: Floats, other: Floats) -> Floats:
    """Return D_MAD of formula 2: |δ(O_j, G) - δ(O_k, G)| / (δ(O_j, G) + δ(O_k, G)).

    Args:
        truth: G, the expected outputs, shape (n, …).
        outputs: outputs of a target, same shape.
        other: outputs of another target, same shape.

    Returns:
        One number in [0, 1] per input, shape (n,); 0 if both targets are exactly right or
        an output is not finite.

    Raises:
        ValueError: if the shapes differ.
    """
    with np.errstate(all="ignore"):
        left, right = deviations(outputs, truth), deviations(other, truth)
        total = left + right
        share = np.abs(left - right) / total
    return np.where(np.isfinite(share), share, 0.0)


def accumulated(truth: Floats, outputs: Sequence[Floats]) -> float:
    """Return ACC of formula 5: D_MAD summed over all inputs and all pairs of targets.

    Raises:
        ValueError: if the shapes differ.
    """
    return float(sum(d_mad(truth, a, b).sum() for a, b in combinations(outputs, 2)))


def layer_deviation(output: Floats, other: Floats) -> float:
    """Return Δ of a layer: mean |difference| of its outputs on two targets; may be `inf`.

    Raises:
        ValueError: if the shapes differ.
    """
    if output.shape != other.shape:
        msg = f"a layer's outputs have the shapes {output.shape} and {other.shape}"
        raise ValueError(msg)
    if not output.size:
        return 0.0
    with np.errstate(all="ignore"):
        # The same infinity, or NaN on both, is not a difference.
        same = (output == other) | (np.isnan(output) & np.isnan(other))
        mean = float(np.where(same, 0.0, np.abs(output - other)).mean())
    return mean if np.isfinite(mean) else float("inf")


def change_rates(
    deviation: Mapping[str, float], inputs: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return R_a of formula 4: (Δ_a - Δ_pre) / (Δ_pre + ε), Δ_pre the largest Δ of a's inputs.

    Args:
        deviation: Δ of each layer between two targets.
        inputs: the layers that produce each layer's inputs; empty for inputs of the graph.

    Returns:
        Rates by layer, in the order of `deviation`. The suspect has the largest. The rate is `inf`
        for the first layer with different non-finite outputs, and 0 after it.
    """
    rates = {}
    for name, own in deviation.items():
        before = max((deviation.get(i, 0.0) for i in inputs.get(name, ())), default=0.0)
        if np.isinf(before):
            rates[name] = 0.0
        else:
            rates[name] = (own - before) / (before + EPSILON)
    return rates
