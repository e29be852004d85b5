"""Simpler variants of a layer's run, for minimisation: fewer rows, simpler data or arguments."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.models import MASKING, ModelCase, Weights
from ciguard.domain.values import ArrayValue, Constant, Explicit, Uniform
from ciguard.levels.model.universe import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.models import LayerNode
    from ciguard.domain.values import Fill

_MIN, _MAX = -1.0, 1.0
"""Range of simpler data."""


def simpler_models(case: ModelCase) -> Iterator[ModelCase]:
    """Yield simpler variants of the run of one layer; a whole model has none."""
    if not case.is_one_layer:
        return
    yield from _without_masks(case)
    yield from _fewer_rows(case)
    yield from _smaller_inputs(case)
    yield from _with_simpler_data(case)
    *inputs, layer = case.graph.nodes
    for node in _simpler_layers(layer):
        yield replace(case, graph=replace(case.graph, nodes=(*inputs, node)))


def _without_masks(case: ModelCase) -> Iterator[ModelCase]:
    """Yield the run on the same inputs without masks."""
    masks = {node.name: node.inputs for node in case.graph.masks if node.layer == MASKING}
    if masks:
        *_, layer = case.graph.nodes
        inputs = tuple(name for source in layer.inputs for name in masks.get(source, (source,)))
        kept = (node for node in case.graph.nodes[:-1] if node.name not in masks)
        nodes = (*kept, replace(layer, inputs=inputs))
        yield replace(case, graph=replace(case.graph, nodes=nodes))


def _fewer_rows(case: ModelCase) -> Iterator[ModelCase]:
    """Yield the run with a part of the batch: the first row, the first half, the second half."""
    arrays = [data for data in case.data if isinstance(data, ArrayValue)]
    rows = {data.shape[0] for data in (*arrays, case.truth) if data.shape}
    if len(arrays) < len(case.data) or len(rows) != 1:
        return
    (count,) = rows
    half = count // 2
    for first, last in ((0, 1), (0, half), (half, count)):
        if 0 < last - first < count:
            yield replace(
                case,
                data=tuple(_rows(data, first, last) for data in arrays),
                truth=_rows(case.truth, first, last),
            )


def _smaller_inputs(case: ModelCase) -> Iterator[ModelCase]:
    """Yield the run with one dimension of all inputs reduced to 1, to 2 or to its half."""
    *inputs, layer = case.graph.nodes
    kind = kind_of(layer)
    arrays = [data for data in case.data if isinstance(data, ArrayValue)]
    if kind is None or len(arrays) < len(case.data) or len({node.shape for node in inputs}) != 1:
        return
    for axis, size in enumerate(inputs[0].shape):
        for smaller in sorted({1, 2, size // 2}):
            if not 0 < smaller < size:
                continue
            shape = (*inputs[0].shape[:axis], smaller, *inputs[0].shape[axis + 1 :])
            output = kind.shape(dict(layer.config), (shape,) * len(layer.inputs))
            if output is None or 0 in output:
                continue
            nodes = (*(replace(node, shape=shape) for node in inputs), replace(layer, shape=output))
            yield replace(
                case,
                graph=replace(case.graph, nodes=nodes),
                data=tuple(_cropped(data, axis + 1, smaller) for data in arrays),
                truth=replace(case.truth, shape=(case.truth.shape[0], *output)),
            )


def _cropped(array: ArrayValue, axis: int, size: int) -> ArrayValue:
    """Return the first elements of an array along an axis."""
    shape = (*array.shape[:axis], size, *array.shape[axis + 1 :])
    if not isinstance(array.fill, Explicit):
        return replace(array, shape=shape)
    elements = np.array(array.fill.data).reshape(array.shape).take(range(size), axis)
    return replace(array, shape=shape, fill=Explicit(tuple(elements.ravel().tolist())))


def _rows(array: ArrayValue, first: int, last: int) -> ArrayValue:
    shape = (last - first, *array.shape[1:])
    if not isinstance(array.fill, Explicit):
        return replace(array, shape=shape)
    size = math.prod(array.shape[1:])
    return replace(array, shape=shape, fill=Explicit(array.fill.data[first * size : last * size]))


def _with_simpler_data(case: ModelCase) -> Iterator[ModelCase]:
    for index, data in enumerate(case.data):
        if not isinstance(data, ArrayValue) or not data.dtype.startswith("float"):
            continue
        fills: list[Fill] = [*_fewer_special(data), Constant(1.0), Constant(0.5)]
        for fill in (*fills, Uniform(0, _MIN, _MAX)):
            if data.fill != fill:
                changed = (*case.data[:index], replace(data, fill=fill), *case.data[index + 1 :])
                yield replace(case, data=changed)


def _fewer_special(data: ArrayValue) -> Iterator[Explicit]:
    """Yield ones with a single special number of the data, then with all of its special numbers."""
    numbers = data.fill.data if isinstance(data.fill, Explicit) else ()
    special = [index for index, number in enumerate(numbers) if not math.isfinite(number)]
    for kept in (special[:1], special):
        if kept:
            yield Explicit(tuple(n if i in kept else 1.0 for i, n in enumerate(numbers)))


def _simpler_layers(layer: LayerNode) -> Iterator[LayerNode]:
    if not layer.weights.plain:
        yield replace(layer, weights=Weights(plain=True))
    if layer.weights.edits and not layer.weights.plain:
        yield replace(layer, weights=replace(layer.weights, edits=()))
    for name in layer.config:
        yield replace(layer, config={key: v for key, v in layer.config.items() if key != name})
