"""Weights of a layer from their recipe, which are equal on every backend, machine and numpy.

The text of this module is copied into reproducers, so it needs only numpy.

Random numbers come from `numpy.random.RandomState`, whose streams are frozen. Weights are float32.
Each depends on the recipe's seed, its name, and the number of earlier weights of that name, so that
the other weights of a layer do not matter.

The neurons of a layer depend on its class:

- Dense, Conv, SeparableConv (pointwise kernel) and Embedding: the last axis of the kernel.
- Transposed convolution: the last axis but one.
- Depthwise convolution: input channels times multiplier.
- Projection of an attention: heads times their size.
- Recurrent layer: a unit with its column in every gate.

A layer without a kernel has no neurons, and edits do not change it.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, Mapping, Sequence

import numpy as np

SHARE = 0.3
"""Share of a layer's neurons that an edit changes (LEMON, section 3.2.2)."""
NOISE = 0.1
"""Noise as a share of the standard deviation of the layer's weights (LEMON, section 3.2.2)."""
NUDGE = 2.0**-23
"""Relative rounding error of float32."""
POSITIVE = ("gamma", "scale", "variance", "alpha")
"""Suffixes of the names of weights that must be positive."""
_AT_ONCE = 1 << 20
"""Chunk size, in elements, of random numbers and of samples for a deviation."""

_RANDOM = np.random.RandomState(0)
"""Shared generator, which is seeded for each use, as creating one is slower."""
_RANGES = {
    "gamma": (0.8, 1.2),
    "scale": (0.8, 1.2),
    "variance": (0.5, 1.5),
    "alpha": (0.1, 0.4),
    "bias": (-0.05, 0.05),
    "beta": (-0.1, 0.1),
    "mean": (-0.1, 0.1),
    "embeddings": (-1.0, 1.0),
}
"""Lowest and highest value, by the suffix of a weight's name."""


def arrays(
    layer: str,
    recipe: Mapping[str, Any],
    weights: Sequence[tuple[str, Sequence[int], str]],
    *,
    nudge: tuple[int, bool] = (0, False),
    stored: Sequence[Any] | None = None,
) -> list[Any]:
    """Return a layer's weights.

    Args:
        layer: public class name of the layer; for a wrapper, that of the wrapped layer.
        recipe: `seed` and `edits` of the JSON form of `domain.models.Weights`; both may be absent.
        weights: name (last part of the path), shape and dtype of each, in Keras's order.
        nudge: a number, and whether zeros change. If the number is not 0, each element is
            multiplied by 1 + 2^-23 or 1 - 2^-23. Its absolute value seeds the choices, and its sign
            inverts them. Zeros that change become 2^-23 or -2^-23.
        stored: initial arrays that replace those of the seed; None for a weight without one.

    Returns:
        Arrays of float32; None for a weight that has no floating-point dtype and is not changed.
    """
    keys = _keys([name for name, _, _ in weights])
    seed = int(recipe.get("seed", 0))
    result: list[Any] = []
    for place, (name, shape, dtype) in enumerate(weights):
        if "float" not in dtype:
            result.append(None)
        elif recipe.get("plain"):
            result.append(_plain(name, tuple(shape)))
        elif stored is not None and stored[place] is not None:
            result.append(np.array(stored[place], dtype=np.float32))
        else:
            result.append(_initial(layer, name, tuple(shape), _generator(seed, *keys[place])))
    names = [name for name, _, _ in weights]
    for rule, edit_seed in () if recipe.get("plain") else recipe.get("edits", ()):
        _edit(layer, names, result, rule, int(edit_seed))
    number, moves_zeros = nudge
    if number:
        for key, array in zip(keys, result):
            if array is not None:
                _nudge(array, number, _generator(abs(number), *key), moves_zeros=moves_zeros)
    return result


def _keys(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the hash of each weight's name, and the number of earlier weights of that name."""
    return [
        (zlib.crc32(name.encode()), list(names[:index]).count(name))
        for index, name in enumerate(names)
    ]


def _generator(seed: int, *parts: int) -> Any:
    _RANDOM.seed([seed % 2**32, *(part % 2**32 for part in parts)])
    return _RANDOM


def _initial(layer: str, name: str, shape: tuple[int, ...], random: Any) -> Any:
    if name.endswith("kernel"):
        # Variance 2 / fan-in keeps the scale of activations through layers with a ReLU (K. He et
        # al., Delving Deep into Rectifiers, 2015, section 2.2); a recurrent sum gets half of it.
        gain = 1.0 if name.startswith("recurrent") or _is_recurrent(layer) else 2.0
        limit = math.sqrt(3.0 * gain / max(1, _fan_in(layer, name, shape)))
        return _between(random, shape, -limit, limit)
    low, high = next((limits for end, limits in _RANGES.items() if name.endswith(end)), (-0.1, 0.1))
    return _between(random, shape, low, high)


def _plain(name: str, shape: tuple[int, ...]) -> Any:
    """Return evenly spaced numbers, which are positive if the weight must be."""
    low = 0.5 if name.endswith(POSITIVE) else -0.5
    return np.linspace(low, low + 1.0, math.prod(shape), dtype=np.float32).reshape(shape)


def _between(random: Any, shape: tuple[int, ...], low: float, high: float) -> Any:
    result = np.empty(math.prod(shape), dtype=np.float32)
    for start in range(0, result.size, _AT_ONCE):
        part = result[start : start + _AT_ONCE]
        part[:] = random.random_sample(part.size) * (high - low) + low
    return result.reshape(shape)


def _fan_in(layer: str, name: str, shape: tuple[int, ...]) -> int:
    """Return the number of products that are summed for one element of the output."""
    if _is_depthwise(layer, name):
        return math.prod(shape[:-2])
    if _is_transposed(layer):
        return math.prod(shape[:-2]) * shape[-1]
    return math.prod(shape[:-1])


def _is_recurrent(layer: str) -> bool:
    return layer.endswith(("RNN", "LSTM", "GRU", "Cell")) or "ConvLSTM" in layer


def _is_transposed(layer: str) -> bool:
    return layer.endswith("Transpose")


def _is_depthwise(layer: str, name: str) -> bool:
    return name == "depthwise_kernel" or (name == "kernel" and "DepthwiseConv" in layer)


def _edit(layer: str, names: Sequence[str], weights: list[Any], rule: str, seed: int) -> None:
    """Apply one edit to a layer's weights in place, kernel by kernel."""
    change = _RULES[rule]
    blocks = _blocks(layer, names, weights)
    noise = NOISE * _deviation([weights[index] for block, _ in blocks for index in block])
    for number, (block, (gates, neurons)) in enumerate(blocks):
        random = _generator(seed, number)
        order = np.argsort(random.random_sample(neurons), kind="stable")
        for index in block:
            moved = _neurons_last(layer, names[index], weights[index])
            matrix = moved.reshape(-1, gates, neurons)
            change(matrix, order, random, 0.0 if names[index] == "bias" else 1.0, noise)
            back = _neurons_last(layer, names[index], matrix.reshape(moved.shape))
            weights[index] = np.ascontiguousarray(back)


def _blocks(
    layer: str, names: Sequence[str], weights: Sequence[Any]
) -> list[tuple[list[int], tuple[int, int]]]:
    """Return the indices of weights that share neurons, with their numbers of gates and neurons.

    These are a kernel, and the recurrent kernel and bias that follow it.
    """
    blocks: list[list[int]] = []
    for index, name in enumerate(names):
        if weights[index] is None or not weights[index].size:
            continue
        if name in {"kernel", "pointwise_kernel", "embeddings"}:
            blocks.append([index])
        elif name == "recurrent_kernel" and blocks:
            blocks[-1].append(index)
        elif name == "bias" and blocks:
            gates, neurons = _neurons(layer, names, weights, [*blocks[-1], index])
            if weights[index].size % (gates * neurons) == 0:
                blocks[-1].append(index)
    return [(block, _neurons(layer, names, weights, block)) for block in blocks]


def _neurons(
    layer: str, names: Sequence[str], weights: Sequence[Any], block: Sequence[int]
) -> tuple[int, int]:
    kernel = weights[block[0]].shape
    if _is_depthwise(layer, names[block[0]]):
        return 1, kernel[-2] * kernel[-1]
    if _is_transposed(layer):
        return 1, kernel[-2]
    for index in block[1:]:
        shape = weights[index].shape
        if names[index] == "recurrent_kernel":
            return shape[-1] // shape[-2], shape[-2]
        if len(shape) > 1 and shape == kernel[-len(shape) :]:  # heads and their size
            return 1, math.prod(shape)
    return 1, kernel[-1]


def _neurons_last(layer: str, name: str, array: Any) -> Any:
    """Return a kernel with the axis of its neurons last; a second call restores the order."""
    return np.swapaxes(array, -1, -2) if name == "kernel" and _is_transposed(layer) else array


def _deviation(weights: Sequence[Any]) -> float:
    """Return the standard deviation of all elements, or of about a million evenly spaced ones.

    It is rounded to 12 bits, so that it does not depend on numpy's order of summation.
    """
    size = sum(array.size for array in weights)
    step = size // _AT_ONCE + 1
    parts = [array.reshape(-1)[::step].astype(np.float64) for array in weights]
    if not parts:
        return 0.0
    mantissa, exponent = math.frexp(float(np.std(np.concatenate(parts))))
    return math.ldexp(round(mantissa * 4096) / 4096, exponent)


def _chosen(order: Any) -> Any:
    return order[: max(1, int(SHARE * order.size + 0.5))]


def _fuzz(matrix: Any, order: Any, random: Any, _connects: float, noise: float) -> None:
    chosen = _chosen(order)
    rows, gates, _ = matrix.shape
    matrix[:, :, chosen] += noise * random.standard_normal((rows, gates, chosen.size))


def _shuffle(matrix: Any, order: Any, random: Any, connects: float, _noise: float) -> None:
    if not connects:
        return
    chosen = _chosen(order)
    places = np.argsort(random.random_sample((len(matrix), 1, chosen.size)), axis=0, kind="stable")
    matrix[:, :, chosen] = np.take_along_axis(matrix[:, :, chosen], places, axis=0)


def _invert(matrix: Any, order: Any, _random: Any, _connects: float, _noise: float) -> None:
    matrix[:, :, _chosen(order)] *= -1.0


def _block(matrix: Any, order: Any, _random: Any, _connects: float, _noise: float) -> None:
    matrix[:, :, _chosen(order)] = 0.0


def _switch(matrix: Any, order: Any, _random: Any, _connects: float, _noise: float) -> None:
    two = order[:2]
    matrix[:, :, two] = matrix[:, :, two[::-1]]


_RULES = {"GF": _fuzz, "WS": _shuffle, "NAI": _invert, "NEB": _block, "NS": _switch}
"""Edits by value of `domain.models.WeightRule`; each changes (rows, gates, neurons) in place."""


def _nudge(array: Any, number: int, random: Any, *, moves_zeros: bool) -> None:
    up = NUDGE if number > 0 else -NUDGE
    flat = array.reshape(-1)
    for start in range(0, flat.size, _AT_ONCE):
        part = flat[start : start + _AT_ONCE]
        choice = random.random_sample(part.size) < 0.5  # noqa: PLR2004 - a fair coin
        zeros = part == 0.0 if moves_zeros else None
        part *= np.where(choice, 1.0 + up, 1.0 - up).astype(np.float32)
        if zeros is not None:
            part[zeros] = np.where(choice, up, -up).astype(np.float32)[zeros]
