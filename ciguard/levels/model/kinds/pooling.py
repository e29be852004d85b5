"""Pooling: over windows, over all positions, and to a given size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.kinds.windows import draw_size, rank_of, window_positions
from ciguard.levels.model.layers import Config, Family, LayerKind, LayerPlace, Shapes

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape

_MAX_WIDTH = 3


def _draw(rng: random.Random, place: LayerPlace) -> Config:
    axes = len(place.shapes[0]) - 1
    config: Config = {"pool_size": draw_size(rng, axes, max_width=_MAX_WIDTH)}
    if place.keeps_shape:
        return config | {"strides": 1, "padding": "same"}
    if rng.random() < 0.5:  # noqa: PLR2004 - as likely as the default
        config["strides"] = rng.randint(1, 2)
    return config | {"padding": rng.choice(("same", "valid"))}


def _shape(config: Config, shapes: Shapes) -> Shape | None:
    *space, channels = shapes[0]
    strides = config.get("strides")
    window = config.get("pool_size", 2)
    positions = window_positions(
        tuple(space),
        window,
        strides=window if strides is None else strides,
        padding=config.get("padding", "valid"),
    )
    return None if positions is None else (*positions, channels)


def _draw_global(rng: random.Random, place: LayerPlace) -> Config | None:
    if place.keeps_shape:
        return None
    return {"keepdims": True} if rng.random() < 0.5 else {}  # noqa: PLR2004 - even odds


def _shape_global(config: Config, shapes: Shapes) -> Shape:
    *space, channels = shapes[0]
    return (*(1 for _ in space), channels) if config.get("keepdims") else (channels,)


def _draw_adaptive(rng: random.Random, place: LayerPlace) -> Config:
    space = place.shapes[0][:-1]
    sizes = list(space) if place.keeps_shape else [rng.randint(1, size) for size in space]
    return {"output_size": sizes[0] if len(sizes) == 1 else sizes}


def _shape_adaptive(config: Config, shapes: Shapes) -> Shape:
    *space, channels = shapes[0]
    output_size = config["output_size"]
    sizes = [output_size] * len(space) if isinstance(output_size, int) else output_size
    return (*sizes, channels)


KINDS = tuple(
    LayerKind(
        name=pattern.format(axes),
        family=Family.POOLING,
        ranks=(rank_of(pattern.format(axes)),),
        draw=draw,
        shape=shape,
    )
    for pattern, draw, shape in (
        ("MaxPooling{}D", _draw, _shape),
        ("AveragePooling{}D", _draw, _shape),
        ("GlobalMaxPooling{}D", _draw_global, _shape_global),
        ("GlobalAveragePooling{}D", _draw_global, _shape_global),
        ("AdaptiveMaxPooling{}D", _draw_adaptive, _shape_adaptive),
        ("AdaptiveAveragePooling{}D", _draw_adaptive, _shape_adaptive),
    )
    for axes in (1, 2, 3)
)
