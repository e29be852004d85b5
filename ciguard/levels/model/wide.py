"""A layer alone on numbers far from zero, which models that are fed data in [0, 1] hardly make.

An exponential that is not kept in range, a square in half precision or a maximum that begins at
zero shows there only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.models import Check
from ciguard.domain.values import ArrayValue, Uniform
from ciguard.levels.model.suspicion import ModelSuspicion, isolated

if TYPE_CHECKING:
    from ciguard.domain.models import LayerNode, ModelCase

WIDTH = 200.0
"""exp(200) is more than float32 holds, 200² is not, nor is a sum of a thousand such squares."""


def widely(case: ModelCase, node: LayerNode) -> ModelCase | None:
    """Return the run of one layer of a model on numbers in [-200, 200].

    Args:
        case: a run of the whole model.
        node: one of its layers.

    Returns:
        None for a layer that does not take floating-point numbers only.
    """
    sources = [case.graph.node(name) for name in node.inputs]
    if not all(source.dtype == "float32" for source in sources):
        return None
    rows = case.data[0].shape[0]
    data = [
        ArrayValue("float32", (rows, *source.shape), Uniform(place + 1, -WIDTH, WIDTH))
        for place, source in enumerate(sources)
    ]
    whole = replace(case, check=Check.PREDICT, training=False)
    return isolated(ModelSuspicion(case=whole, suspects=(node.name,), samples={}), node.name, data)
