"""The same twenty functions as types and preconditions alone.

That is how libraries of contracts are told what is valid; plain Hypothesis is filtered by the same
conditions, and inputs of ciguard are checked with them. No `from __future__ import
annotations` here: the hints are read.
"""

import re
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from function_sets.requiring import require

Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


def _within(array: npt.NDArray[Any], low: float, high: float) -> bool:
    return bool(((low <= array) & (array <= high)).all())


def _sided(array: npt.NDArray[Any], *ends: tuple[int, int]) -> bool:
    fits = [low <= side <= high for side, (low, high) in zip(array.shape, ends, strict=False)]
    return array.ndim == len(ends) and all(fits)


class Model:
    """A layer with some inputs and outputs."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.inputs = inputs
        self.outputs = outputs


@require(lambda value: 0 <= value <= 255)
def scaled(value: int, invert: bool, mode: Literal["same", "half", "double"]) -> None: ...


@require(lambda rate: 0 < rate < 1)
@require(lambda decay: 1e-4 <= decay <= 1e-2)
@require(lambda step: 0 <= step <= 10_000)
def annealed(rate: float, decay: float, step: int) -> None: ...


@require(lambda sizes: 1 <= len(sizes) <= 6)
@require(lambda sizes: all(1 <= size <= 512 for size in sizes))
@require(lambda classes: 2 <= classes <= 100)
def parameters(sizes: list[int], classes: int) -> None: ...


@require(lambda name: re.match(r"^[a-z]{1,6}_[0-9]{1,2}\Z", name))
@require(lambda prefix: re.match(r"^[abc/]{0,4}\Z", prefix))
def layer_index(name: str, prefix: str) -> None: ...


@require(lambda options: len(options) > 0)
@require(lambda options: all(1 <= value <= 64 for value in options.values()))
def configured(options: dict[Literal["width", "depth", "heads"], int], strict: bool) -> None: ...


@require(lambda low: 0 <= low <= 1000)
@require(lambda high: 0 <= high <= 1000)
@require(lambda low, high: low < high)
def cropped(low: int, high: int) -> None: ...


@require(lambda total: 1 <= total <= 1000)
@require(lambda train: 0 <= train <= 1000)
@require(lambda valid: 0 <= valid <= 1000)
@require(lambda total, train, valid: train + valid <= total)
@require(lambda train, valid: valid <= train)
def divided(total: int, train: int, valid: int) -> None: ...


@require(lambda width: 8 <= width <= 512)
@require(lambda heads: 2 <= heads <= 16)
@require(lambda width, heads: width % heads == 0)
def head_size(width: int, heads: int) -> None: ...


@require(lambda inputs: 1 <= inputs <= 256)
@require(lambda outputs: 1 <= outputs <= 256)
@require(lambda groups: 2 <= groups <= 32)
@require(lambda inputs, outputs, groups: inputs % groups == 0 and outputs % groups == 0)
def group_weights(inputs: int, outputs: int, groups: int) -> None: ...


@require(lambda input_shape: min(input_shape[:2]) >= 20 and max(input_shape[:2]) <= 70)
@require(lambda input_shape: 1 <= input_shape[2] <= 3)
@require(lambda dense_blocks: 2 <= dense_blocks <= 5)
@require(lambda dense_layers: isinstance(dense_layers, list) or -1 <= dense_layers <= 5)
@require(lambda dense_layers: isinstance(dense_layers, list) or dense_layers != 0)
@require(lambda dense_layers: isinstance(dense_layers, int) or 2 <= len(dense_layers) <= 5)
@require(
    lambda dense_layers: isinstance(dense_layers, int) or all(2 <= n <= 5 for n in dense_layers)
)
@require(lambda dropout_rate: 0 < dropout_rate < 1)
@require(lambda compression: 0 < compression <= 1)
@require(lambda depth: 10 <= depth <= 100)
@require(
    lambda dense_layers, dense_blocks: (
        isinstance(dense_layers, int) or len(dense_layers) == dense_blocks
    )
)
def dense_net(
    input_shape: tuple[int, int, int],
    dense_blocks: int,
    dense_layers: int | list[int],
    dropout_rate: float,
    compression: float,
    depth: int,
) -> None: ...


@require(lambda depth: 1 <= depth <= 6)
@require(lambda widths: 1 <= len(widths) <= 6 and all(1 <= width <= 64 for width in widths))
@require(lambda active: 1 <= len(active) <= 6 and all(1 <= one <= 3 for one in active))
@require(lambda depth, widths: len(widths) == depth)
@require(lambda depth, active: len(active) == depth)
def stacked(depth: int, widths: list[int], active: tuple[int, ...]) -> None: ...


@require(lambda values: 1 <= len(values) <= 20 and all(0 <= value <= 9 for value in values))
@require(lambda size: 1 <= size <= 20)
@require(lambda stride: 1 <= stride <= 5)
@require(lambda values, size: size <= len(values))
@require(lambda values, size, stride: (len(values) - size) % stride == 0)
def windows(values: list[int], size: int, stride: int) -> None: ...


@require(lambda size: 1 <= size <= 224)
@require(lambda kernel: 1 <= kernel <= 11)
@require(lambda stride: 1 <= stride <= 4)
@require(lambda padding: 0 <= padding <= 5)
@require(lambda dilation: 1 <= dilation <= 4)
@require(lambda kernel, padding: padding <= kernel // 2)
@require(lambda size, kernel, padding, dilation: size + 2 * padding >= dilation * (kernel - 1) + 1)
@require(
    lambda size, kernel, stride, padding, dilation: (
        (size + 2 * padding - dilation * (kernel - 1) - 1) % stride == 0
    )
)
def convolved(size: int, kernel: int, stride: int, padding: int, dilation: int) -> None: ...


@require(lambda shape: 2 <= len(shape) <= 4 and all(1 <= side <= 5 for side in shape))
@require(lambda axes: 2 <= len(axes) <= 4 and all(0 <= axis <= 3 for axis in axes))
@require(lambda shape, axes: sorted(axes) == list(range(len(shape))))
def permuted(shape: tuple[int, ...], axes: list[int]) -> None: ...


@require(lambda first: 1 <= first.ndim <= 3 and min(first.shape) >= 1 and max(first.shape) <= 4)
@require(lambda first: _within(first, -9, 9))
@require(lambda second: _within(second, -9, 9))
@require(lambda first, second: first.shape == second.shape)
def distance(first: Floats, second: Floats) -> None: ...


@require(lambda left: _sided(left, (1, 6), (1, 6)) and _within(left, -9, 9))
@require(lambda right: _sided(right, (1, 6), (1, 6)) and _within(right, -9, 9))
@require(lambda bias: _sided(bias, (1, 6)) and _within(bias, -1, 1))
@require(lambda left, right: left.shape[1] == right.shape[0])
@require(lambda right, bias: bias.shape[0] == right.shape[1])
def dense(left: Floats, right: Floats, bias: Floats) -> None: ...


@require(lambda classes: 2 <= classes <= 6)
@require(lambda logits: _sided(logits, (1, 8), (2, 6)) and _within(logits, -9, 9))
@require(lambda labels: _sided(labels, (1, 8)) and _within(labels, 0, 5))
@require(lambda classes, logits: logits.shape[1] == classes)
@require(lambda logits, labels: len(labels) == len(logits))
@require(lambda classes, labels: labels.max() < classes)
def cross_entropy(classes: int, logits: Floats, labels: Labels) -> None: ...


@require(lambda model: 1 <= model.inputs <= 6 and 1 <= model.outputs <= 6)
@require(lambda batch: _sided(batch, (1, 8), (1, 6)) and _within(batch, -9, 9))
@require(lambda model, batch: batch.shape[1] == model.inputs)
def trained(model: Model, batch: Floats) -> None: ...


@require(lambda query: _sided(query, (1, 3), (1, 6), (2, 12)) and _within(query, -9, 9))
@require(lambda key: _sided(key, (1, 3), (1, 6), (2, 12)) and _within(key, -9, 9))
@require(lambda value: _sided(value, (1, 3), (1, 6), (2, 12)) and _within(value, -9, 9))
@require(lambda heads: 1 <= heads <= 4)
@require(lambda query, key: query.shape[0] == key.shape[0] and query.shape[2] == key.shape[2])
@require(lambda key, value: value.shape[:2] == key.shape[:2])
@require(lambda query, value, heads: query.shape[2] % heads == 0 and value.shape[2] % heads == 0)
def attention(query: Floats, key: Floats, value: Floats, heads: int) -> None: ...


@require(lambda image: _sided(image, (4, 64), (4, 64), (1, 3)) and _within(image, 0, 1))
@require(lambda depth: 1 <= depth <= 4)
@require(lambda filters: 1 <= len(filters) <= 4 and all(1 <= one <= 8 for one in filters))
@require(lambda image, depth: image.shape[0] % 2**depth == 0 and image.shape[1] % 2**depth == 0)
@require(lambda filters, depth: len(filters) == depth and filters == sorted(filters))
def pyramid(image: Floats, depth: int, filters: list[int]) -> None: ...
