"""Runs of one layer on sequences of which some steps are masked.

A layer `Masking`, or an `Embedding` with `mask_zero`, makes the mask before the layer.
"""

from __future__ import annotations

import random
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from ciguard.domain.models import EMBEDDING, MASKING, LayerNode, Weights
from ciguard.domain.values import ArrayValue, Explicit
from ciguard.levels.model.layers import TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.models import ModelCase


class Masked(Enum):
    """Steps of a batch that are masked."""

    PARTLY = auto()
    """No step of the first row; of each other row the end, the beginning or the middle."""
    WHOLLY = auto()
    """No step of the first row, and all of the second. Backends may disagree on that row only."""


def with_masking(case: ModelCase, masked: Masked) -> ModelCase:
    """Return a run on sequences whose masked steps are zero, and which a layer masks.

    Args:
        case: a run of one layer on sequences of vectors.
        masked: the steps to mask.
    """
    rng = random.Random(case.seed)  # noqa: S311 - a seeded generator is repeatable
    data = []
    for length, features in (node.shape for node in case.graph.inputs):
        rows = _masked_steps(masked, length)
        numbers = tuple(
            0.0 if step in row else round(rng.uniform(-1.0, 1.0), 3)
            for row in rows
            for step in range(length)
            for _ in range(features)
        )
        data.append(ArrayValue("float32", (len(rows), length, features), Explicit(numbers)))
    masks = [
        LayerNode(name=f"mask_{node.name}", layer=MASKING, inputs=(node.name,), shape=node.shape)
        for node in case.graph.inputs
    ]
    return _with_masks(case, data, masks)


def with_embedding(case: ModelCase, masked: Masked) -> ModelCase:
    """Return a run on embeddings of tokens, of which the token 0 is masked.

    Args:
        case: a run of one layer on sequences of vectors.
        masked: the steps to mask.
    """
    rng = random.Random(case.seed)  # noqa: S311 - a seeded generator is repeatable
    data = []
    for length, _ in (node.shape for node in case.graph.inputs):
        rows = _masked_steps(masked, length)
        tokens = tuple(
            0 if step in row else rng.randrange(1, TOKENS) for row in rows for step in range(length)
        )
        data.append(ArrayValue("int32", (len(rows), length), Explicit(tokens)))
    masks = [
        LayerNode(
            name=f"mask_{node.name}",
            layer=EMBEDDING,
            config={"input_dim": TOKENS, "output_dim": node.shape[-1], "mask_zero": True},
            inputs=(node.name,),
            shape=node.shape,
            weights=Weights(plain=True),
        )
        for node in case.graph.inputs
    ]
    inputs = tuple(
        replace(node, shape=node.shape[:-1], dtype="int32") for node in case.graph.inputs
    )
    graph = replace(case.graph, nodes=(*inputs, case.graph.nodes[-1]))
    return _with_masks(replace(case, graph=graph), data, masks)


def _masked_steps(masked: Masked, length: int) -> Sequence[range]:
    """Return the masked steps of each row, for sequences of a length."""
    if masked is Masked.WHOLLY:
        return range(0), range(length)
    return range(0), range(length // 2, length), range(length // 3), range(1, length - 2)


def _with_masks(
    case: ModelCase, data: Sequence[ArrayValue], masks: Sequence[LayerNode]
) -> ModelCase:
    """Return a run on the outputs of layers that make masks, one for each input."""
    *inputs, layer = case.graph.nodes
    layer = replace(layer, inputs=tuple(mask.name for mask in masks))
    rows = data[0].shape[0]
    return replace(
        case,
        data=tuple(data),
        graph=replace(case.graph, nodes=(*inputs, *masks, layer)),
        truth=replace(case.truth, shape=(rows, *case.truth.shape[1:])),
    )
