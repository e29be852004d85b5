"""Simpler variants of a layer's run, for minimisation: fewer rows, simpler data or arguments."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.models import ModelCase, Weights
from ciguard.domain.values import ArrayValue, Constant, Explicit, Uniform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.models import LayerNode

_MIN, _MAX = -1.0, 1.0
"""Range of simpler data."""


def simpler_models(case: ModelCase) -> Iterator[ModelCase]:
    """Yield simpler variants of the run of one layer; a whole model has none."""
    if not case.is_one_layer:
        return
    yield from _fewer_rows(case)
    yield from _with_simpler_data(case)
    *inputs, layer = case.graph.nodes
    for node in _simpler_layers(layer):
        yield replace(case, graph=replace(case.graph, nodes=(*inputs, node)))


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
        for fill in (Constant(1.0), Constant(0.5), Uniform(0, _MIN, _MAX)):
            if data.fill != fill:
                changed = (*case.data[:index], replace(data, fill=fill), *case.data[index + 1 :])
                yield replace(case, data=changed)


def _simpler_layers(layer: LayerNode) -> Iterator[LayerNode]:
    if not layer.weights.plain:
        yield replace(layer, weights=Weights(plain=True))
    if layer.weights.edits and not layer.weights.plain:
        yield replace(layer, weights=replace(layer.weights, edits=()))
    for name in layer.config:
        yield replace(layer, config={key: v for key, v in layer.config.items() if key != name})
