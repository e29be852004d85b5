"""Layers that keep shapes: activations, normalisation, regularisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.layers import (
    Choices,
    Config,
    Count,
    Draw,
    Family,
    LayerKind,
    LayerPlace,
    Shapes,
    no_weights,
    same_shape,
)

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape
    from ciguard.domain.values import Json

ANY_RANK = (1, 2, 3, 4)
_RATES = (0.0, 0.1, 0.5, 0.9)


def _channels(config: Config, shapes: Shapes) -> int:
    del config
    return shapes[0][-1]


def _row(  # noqa: PLR0913 - the arguments are columns of a table
    name: str,
    family: Family,
    *,
    ranks: tuple[int, ...] = ANY_RANK,
    draw: Draw | None = None,
    varied_arguments: tuple[str, ...] = (),
    weights: Count = no_weights,
    is_random: bool = False,
) -> LayerKind:
    return LayerKind(
        name=name,
        family=family,
        ranks=ranks,
        draw=draw or Choices(),
        shape=same_shape,
        varied_arguments=varied_arguments,
        is_random=is_random,
        weights=weights,
    )


# --- activations --------------------------------------------------------------------------------


def _draw_prelu(rng: random.Random, place: LayerPlace) -> Config:
    rank = len(place.shapes[0])
    # One slope per element of a large image would dominate the model's weights.
    shared = list(range(1, rank)) if rank > 1 and rng.random() < _SHARED_PROBABILITY else []
    return {"shared_axes": shared} if shared else {}


_SHARED_PROBABILITY = 0.7


def _slope_count(config: Config, shapes: Shapes) -> int:
    shape = shapes[0]
    count = 1
    for axis, size in enumerate(shape, start=1):
        count *= 1 if axis in (config.get("shared_axes") or ()) else size
    return count


def _draw_any_axis(rng: random.Random, place: LayerPlace) -> Config:
    axis = _draw_axis(rng, place)
    return {} if axis == -1 else {"axis": axis}


def _draw_axis(rng: random.Random, place: LayerPlace) -> int:
    return rng.choice((-1, -1, rng.randint(1, len(place.shapes[0]))))


_ACTIVATIONS = (
    _row("ReLU", Family.ACTIVATION, varied_arguments=("max_value", "negative_slope", "threshold")),
    _row("LeakyReLU", Family.ACTIVATION, varied_arguments=("negative_slope",)),
    _row("ELU", Family.ACTIVATION, varied_arguments=("alpha",)),
    _row("PReLU", Family.ACTIVATION, draw=_draw_prelu, weights=_slope_count),
    _row("Softmax", Family.ACTIVATION, draw=_draw_any_axis),
    _row(
        "Activation",
        Family.ACTIVATION,
        draw=Choices(always={"activation": ("relu", "tanh", "sigmoid", "leaky_relu")}),
        varied_arguments=("activation",),
    ),
)

# --- normalisation ------------------------------------------------------------------------------


def _draw_axes(rng: random.Random, place: LayerPlace) -> Config:
    """Draw the last axis or the last axes; Keras 3.15.1 on PyTorch rejects other axes."""
    rank = len(place.shapes[0])
    if rank > 1 and rng.random() < _VARIANT_PROBABILITY:
        return {"axis": list(range(rng.randint(1, rank), rank + 1))}
    return {}


_VARIANT_PROBABILITY = 0.25


def _draw_last_axis(rng: random.Random, place: LayerPlace) -> Config:
    """Draw one of two ways to name the last axis, see `_draw_axes`."""
    return {"axis": len(place.shapes[0])} if rng.random() < _VARIANT_PROBABILITY else {}


def _weights_along_axes(config: Config, shapes: Shapes) -> int:
    shape: Shape = (0, *shapes[0])
    axis: Json = config.get("axis", -1)
    count = 1
    for index in [axis] if isinstance(axis, int) else axis:
        count *= shape[index]
    return 2 * count


def _draw_groups(rng: random.Random, place: LayerPlace) -> Config:
    channels = place.shapes[0][-1]
    return {"groups": rng.choice([-1, *(n for n in range(1, 33) if channels % n == 0)])}


def _draw_normalization(rng: random.Random, place: LayerPlace) -> Config:
    """Draw a mean and a variance; without these, the layer must first be adapted to data."""
    channels = place.shapes[0][-1]
    config: Config = {"invert": True} if rng.random() < _VARIANT_PROBABILITY else {}
    if rng.random() < _VARIANT_PROBABILITY:
        return config | {"axis": None, "mean": 0.5, "variance": 2.0}
    if channels > _MAX_LISTED:
        return config | {"mean": 0.25, "variance": 0.5}
    means = [round(rng.uniform(-1, 1), 3) for _ in range(channels)]
    return config | {
        "mean": means,
        "variance": [round(rng.uniform(0.1, 4), 3) for _ in range(channels)],
    }


_MAX_LISTED = 16
"""Maximum number of channels that get a mean and a variance each."""
_SCALED = ("epsilon", "center", "scale")

_NORMALISATION = (
    _row(
        "BatchNormalization",
        Family.NORMALISATION,
        draw=_draw_any_axis,
        varied_arguments=("momentum", *_SCALED),
        weights=_weights_along_axes,
    ),
    _row(
        "LayerNormalization",
        Family.NORMALISATION,
        draw=_draw_axes,
        varied_arguments=_SCALED,
        weights=_weights_along_axes,
    ),
    _row(
        "GroupNormalization",
        Family.NORMALISATION,
        draw=_draw_groups,
        varied_arguments=_SCALED,
        weights=_channels,
    ),
    _row(
        "RMSNormalization",
        Family.NORMALISATION,
        draw=_draw_last_axis,
        varied_arguments=("epsilon",),
        weights=_weights_along_axes,
    ),
    _row("UnitNormalization", Family.NORMALISATION, draw=_draw_axes),
    _row("Normalization", Family.PREPROCESSING, draw=_draw_normalization),
)

# --- regularisation -----------------------------------------------------------------------------

_REGULARISATION = (
    *(
        _row(
            name,
            Family.REGULARISATION,
            draw=Choices(always={"rate": _RATES}),
            varied_arguments=("rate",),
            is_random=True,
        )
        for name in ("Dropout", "AlphaDropout")
    ),
    _row(
        "GaussianDropout",
        Family.REGULARISATION,
        draw=Choices(always={"rate": _RATES}),
        is_random=True,
    ),
    _row(
        "GaussianNoise",
        Family.REGULARISATION,
        draw=Choices(always={"stddev": (0.0, 0.1, 1.0)}),
        is_random=True,
    ),
    *(
        _row(
            f"SpatialDropout{axes}D",
            Family.REGULARISATION,
            ranks=(axes + 1,),
            draw=Choices(always={"rate": _RATES}),
            varied_arguments=("rate",),
            is_random=True,
        )
        for axes in (1, 2, 3)
    ),
    _row("ActivityRegularization", Family.REGULARISATION, varied_arguments=("l1", "l2")),
)

KINDS = (
    *_ACTIVATIONS,
    *_NORMALISATION,
    *_REGULARISATION,
    _row("Identity", Family.CORE),
    # At higher ranks it masks whole images, which recurrent layers over images reject.
    _row("Masking", Family.CORE, ranks=(2,), varied_arguments=("mask_value",)),
)
