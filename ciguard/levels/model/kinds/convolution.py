"""Convolutions: plain, depthwise, separable and transposed."""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING

from ciguard.levels.model.kinds.windows import (
    draw_size,
    per_axis,
    rank_of,
    transposed_size,
    window_positions,
)
from ciguard.levels.model.layers import Config, Family, LayerKind, LayerPlace, Shapes, similar_size

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape

_VARIED_ARGUMENTS = ("activation", "use_bias")
_DILATION_PROBABILITY, _GROUPS_PROBABILITY, _STRIDES_PROBABILITY = 0.2, 0.2, 0.5


def _draw_window(rng: random.Random, place: LayerPlace) -> Config:
    """Draw the arguments of the window, with strides or dilation but not both."""
    axes = len(place.shapes[0]) - 1
    config: Config = {"kernel_size": draw_size(rng, axes), "padding": "same"}
    if not place.keeps_shape:
        config["padding"] = rng.choice(("same", "valid"))
        if rng.random() < _STRIDES_PROBABILITY:
            return config | {"strides": 2}
    if rng.random() < _DILATION_PROBABILITY:
        config["dilation_rate"] = rng.randint(2, 3)
    return config


def _output_space(config: Config, shape: Shape) -> Shape | None:
    return window_positions(
        shape[:-1],
        config["kernel_size"],
        strides=config.get("strides", 1),
        padding=config.get("padding", "valid"),
        dilation=config.get("dilation_rate", 1),
    )


def _filters(rng: random.Random, place: LayerPlace) -> int:
    channels = place.shapes[0][-1]
    return channels if place.keeps_shape else similar_size(rng, channels)


def _draw_plain(rng: random.Random, place: LayerPlace) -> Config:
    filters = _filters(rng, place)
    config = {"filters": filters, **_draw_window(rng, place)}
    common = gcd(filters, place.shapes[0][-1])
    divisors = [n for n in range(2, min(common, 16) + 1) if common % n == 0]
    if divisors and rng.random() < _GROUPS_PROBABILITY:
        config["groups"] = rng.choice(divisors)
    causal_rank = 2  # only series can be padded causally
    if len(place.shapes[0]) == causal_rank and rng.random() < _DILATION_PROBABILITY:
        config["padding"] = "causal"
    return config


def _draw_separable(rng: random.Random, place: LayerPlace) -> Config:
    config = {"filters": _filters(rng, place), **_draw_window(rng, place)}
    return config | ({"depth_multiplier": 2} if rng.random() < _GROUPS_PROBABILITY else {})


def _draw_depthwise(rng: random.Random, place: LayerPlace) -> Config:
    config = _draw_window(rng, place)
    return config if place.keeps_shape else config | {"depth_multiplier": rng.randint(1, 3)}


def _draw_transposed(rng: random.Random, place: LayerPlace) -> Config:
    axes = len(place.shapes[0]) - 1
    config: Config = {"filters": _filters(rng, place), "padding": "same"}
    if not place.keeps_shape:
        # Some backends reject kernels that are narrower than their strides.
        config |= {"strides": rng.randint(1, 2), "padding": rng.choice(("same", "valid"))}
        return config | {"kernel_size": draw_size(rng, axes, min_width=2)}
    return config | {"kernel_size": draw_size(rng, axes)}


def _shape(config: Config, shapes: Shapes) -> Shape | None:
    space = _output_space(config, shapes[0])
    return None if space is None else (*space, config["filters"])


def _shape_depthwise(config: Config, shapes: Shapes) -> Shape | None:
    space = _output_space(config, shapes[0])
    return space and (*space, shapes[0][-1] * config.get("depth_multiplier", 1))


def _shape_transposed(config: Config, shapes: Shapes) -> Shape | None:
    if config.get("output_padding") is not None:
        return None
    space = transposed_size(
        shapes[0][:-1],
        config["kernel_size"],
        strides=config.get("strides", 1),
        padding=config.get("padding", "valid"),
        dilation=config.get("dilation_rate", 1),
    )
    return (*space, config["filters"])


def _kernel_size(config: Config, shapes: Shapes) -> int:
    """Return the number of kernel elements for one pair of channels."""
    return prod(per_axis(config["kernel_size"], len(shapes[0]) - 1))


def _weights(config: Config, shapes: Shapes) -> int:
    pairs = shapes[0][-1] // config.get("groups", 1) * config["filters"]
    return _kernel_size(config, shapes) * int(pairs)


def _weights_depthwise(config: Config, shapes: Shapes) -> int:
    return _kernel_size(config, shapes) * shapes[0][-1] * int(config.get("depth_multiplier", 1))


def _weights_separable(config: Config, shapes: Shapes) -> int:
    middle = shapes[0][-1] * int(config.get("depth_multiplier", 1))
    return middle * (_kernel_size(config, shapes) + int(config["filters"]))


KINDS = tuple(
    LayerKind(
        name=name,
        family=Family.CONVOLUTION,
        ranks=(rank_of(name),),
        draw=draw,
        shape=shape,
        weights=weights,
        varied_arguments=_VARIED_ARGUMENTS,
    )
    for names, draw, shape, weights in (
        (("Conv1D", "Conv2D", "Conv3D"), _draw_plain, _shape, _weights),
        (
            ("DepthwiseConv1D", "DepthwiseConv2D"),
            _draw_depthwise,
            _shape_depthwise,
            _weights_depthwise,
        ),
        (("SeparableConv1D", "SeparableConv2D"), _draw_separable, _shape, _weights_separable),
        (
            ("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
            _draw_transposed,
            _shape_transposed,
            _weights,
        ),
    )
    for name in names
)
