"""Runs of one layer become smaller: fewer rows, smaller inputs, fewer special numbers."""

from __future__ import annotations

import math
from dataclasses import replace

from model_examples import MODEL

from ciguard.domain.models import INPUT, MASKING, ONE_LAYER, LayerGraph, LayerNode, ModelCase
from ciguard.domain.values import ArrayValue, Explicit, Uniform
from ciguard.levels.model.simplifying import simpler_models

POOL = LayerNode(
    name=ONE_LAYER,
    layer="keras.layers.MaxPooling2D",
    config={"pool_size": 2},
    inputs=("x0",),
    shape=(4, 4, 3),
)


def pooled(fill: Explicit | Uniform) -> ModelCase:
    source = LayerNode(name="x0", layer=INPUT, shape=(8, 8, 3))
    return replace(
        MODEL,
        api=POOL.layer,
        graph=LayerGraph(nodes=(source, POOL), outputs=(ONE_LAYER,)),
        data=(ArrayValue("float32", (1, 8, 8, 3), fill),),
        truth=ArrayValue("float32", (1, 4, 4, 3), Uniform(1, 0.0, 1.0)),
    )


def test_inputs_get_smaller_and_the_output_with_them() -> None:
    variants = list(simpler_models(pooled(Uniform(1, 0.0, 1.0))))

    forms = {(v.data[0].shape, v.graph.nodes[-1].shape, v.truth.shape) for v in variants}
    assert ((1, 2, 8, 3), (1, 4, 3), (1, 1, 4, 3)) in forms
    assert ((1, 8, 4, 3), (4, 2, 3), (1, 4, 2, 3)) in forms
    assert ((1, 8, 8, 1), (4, 4, 1), (1, 4, 4, 1)) in forms
    assert all(shape[1:3] != (1, 8) for shape, _, _ in forms)  # the window does not fit


def test_listed_elements_are_cropped_and_special_ones_removed() -> None:
    numbers = [float(n) for n in range(192)]
    numbers[0] = numbers[100] = math.nan
    variants = list(simpler_models(pooled(Explicit(tuple(numbers)))))

    kept = [
        [number for number in fill.data if number != 1.0]
        for variant in variants
        if isinstance(fill := variant.data[0].fill, Explicit)  # type: ignore[union-attr]
        if len(fill.data) == 192 and set(map(str, fill.data)) == {"nan", "1.0"}
    ]
    assert sorted(map(len, kept)) == [1, 2]
    cropped = next(v for v in variants if v.data[0].shape == (1, 8, 8, 1))
    assert isinstance(cropped.data[0], ArrayValue)
    assert isinstance(cropped.data[0].fill, Explicit)
    assert cropped.data[0].fill.data[1:4] == (3.0, 6.0, 9.0)


def test_masks_are_left_out_and_shrink_with_the_inputs() -> None:
    source = LayerNode(name="x0", layer=INPUT, shape=(4, 2))
    mask = LayerNode(name="mask_x0", layer=MASKING, inputs=("x0",), shape=(4, 2))
    pool = LayerNode(
        name=ONE_LAYER, layer="keras.layers.GlobalAveragePooling1D", inputs=("mask_x0",), shape=(2,)
    )
    case = replace(
        MODEL,
        api=pool.layer,
        graph=LayerGraph(nodes=(source, mask, pool), outputs=(ONE_LAYER,)),
        data=(ArrayValue("float32", (1, 4, 2), Uniform(1, 0.0, 1.0)),),
        truth=ArrayValue("float32", (1, 2), Uniform(1, 0.0, 1.0)),
    )

    variants = [variant.graph.nodes for variant in simpler_models(case)]

    assert (source, replace(pool, inputs=("x0",))) in variants
    assert (replace(source, shape=(2, 2)), replace(mask, shape=(2, 2)), pool) in variants
