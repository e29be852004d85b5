"""How far the outputs of targets lie apart, and which layer begins it (LEMON, sections 2.2, 3.2).

All arrays have the batch dimension first. What is not finite counts as no number here: that targets
differ in it is judged elsewhere.
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
"""Of formula 4: a first layer has no layer before it."""


def deviations(outputs: Floats, truth: Floats) -> Floats:
    """δ of formula 1: mean |O_i - G_i| over the m elements of each input's output.

    Args:
        outputs: of one target, (n, …).
        truth: what they ought to be, the same shape.

    Returns:
        One number per input, >= 0, shape (n,).

    Raises:
        ValueError: if the shapes differ.
    """
    if outputs.shape != truth.shape:
        msg = f"outputs of shape {outputs.shape} for a truth of shape {truth.shape}"
        raise ValueError(msg)
    apart = np.abs(outputs - truth).reshape(len(outputs), -1)
    return np.asarray(apart.mean(axis=1), dtype=np.float64)


def d_mad(truth: Floats, one: Floats, other: Floats) -> Floats:
    """D_MAD of formula 2: |δ(O_j, G) - δ(O_k, G)| / (δ(O_j, G) + δ(O_k, G)).

    Args:
        truth: G, (n, …).
        one: outputs of a target, the same shape.
        other: outputs of another, the same shape.

    Returns:
        One number in [0, 1] per input, shape (n,); 0 where both targets are exactly right, or
        where an output is not finite.

    Raises:
        ValueError: if the shapes differ.
    """
    with np.errstate(all="ignore"):
        left, right = deviations(one, truth), deviations(other, truth)
        both = left + right
        share = np.abs(left - right) / both
    return np.where(np.isfinite(share), share, 0.0)


def accumulated(truth: Floats, outputs: Sequence[Floats]) -> float:
    """ACC of formula 5: D_MAD summed over all inputs and all pairs of targets.

    Raises:
        ValueError: if the shapes differ.
    """
    return float(sum(d_mad(truth, a, b).sum() for a, b in combinations(outputs, 2)))


def layer_deviation(one: Floats, other: Floats) -> float:
    """Δ of a layer: mean |difference| of what it computes on two targets; `inf` if not finite.

    Raises:
        ValueError: if the shapes differ.
    """
    if one.shape != other.shape:
        msg = f"a layer gives the shape {one.shape} here and {other.shape} there"
        raise ValueError(msg)
    if not one.size:
        return 0.0
    with np.errstate(all="ignore"):
        # What is the same infinity or the same NaN on both does not differ.
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        mean = float(np.where(same, 0.0, np.abs(one - other)).mean())
    return mean if np.isfinite(mean) else float("inf")


def change_rates(
    deviation: Mapping[str, float], inputs: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """R_a of formula 4: (Δ_a - Δ_pre) / (Δ_pre + ε), Δ_pre the largest Δ of a's input layers.

    Args:
        deviation: Δ of each layer between two targets.
        inputs: the layers that each takes its inputs from; inputs of the graph have none.

    Returns:
        By layer, in the order of `deviation`. The largest names the suspect. `inf` where a layer is
        the first whose outputs are not finite alike, 0 behind it.
    """
    rates = {}
    for name, own in deviation.items():
        before = max((deviation.get(i, 0.0) for i in inputs.get(name, ())), default=0.0)
        if np.isinf(before):
            rates[name] = 0.0
        else:
            rates[name] = (own - before) / (before + EPSILON)
    return rates
