"""Runs of a layer on numbers far from zero, which models with data in [0, 1] rarely produce.

Some defects show only with such numbers: an exponential that overflows, a square in half precision,
or a maximum whose initial value is zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.models import Check
from ciguard.domain.values import ArrayValue, Uniform
from ciguard.levels.model.suspicion import ModelSuspicion, isolated_run

if TYPE_CHECKING:
    from ciguard.domain.models import LayerNode, ModelCase

WIDTH = 200.0
"""Bound of the numbers: exp(200) is too large for float32, but a sum of a thousand squares is
not."""


def wide_range_run(case: ModelCase, node: LayerNode) -> ModelCase | None:
    """Return the run of one layer of a model on numbers in [-200, 200].

    Args:
        case: a run of the whole model.
        node: a layer of the model.

    Returns:
        The run; None if the layer has inputs other than floating-point numbers.
    """
    sources = [case.graph.node(name) for name in node.inputs]
    if not all(source.dtype == "float32" for source in sources):
        return None
    rows = case.data[0].shape[0]
    data = [
        ArrayValue("float32", (rows, *source.shape), Uniform(index + 1, -WIDTH, WIDTH))
        for index, source in enumerate(sources)
    ]
    whole = replace(case, check=Check.PREDICT, training=False)
    return isolated_run(
        ModelSuspicion(case=whole, suspects=(node.name,), samples={}), node.name, data
    )
