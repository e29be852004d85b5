"""Recurrent layers over vectors and over images."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ciguard.levels.model.kinds.windows import draw_size, rank_of, window_positions
from ciguard.levels.model.layers import (
    PUBLIC,
    Config,
    Family,
    LayerKind,
    LayerPlace,
    Shapes,
    similar_size,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.domain.models import Shape
    from ciguard.domain.values import Json

GATES = {"SimpleRNN": 1, "GRU": 3, "LSTM": 4}
"""Number of matrices in a layer's kernel, by class name."""
CELLS = tuple(f"{PUBLIC}{name}Cell" for name in GATES)
"""Public names of the cell classes."""
_VARIED_ARGUMENTS = (
    "activation",
    "use_bias",
    "dropout",
    "recurrent_dropout",
    "go_backwards",
    "unroll",
)
_SPECIFIC_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "SimpleRNN": (),
    "GRU": ("recurrent_activation", "reset_after"),
    "LSTM": ("recurrent_activation", "unit_forget_bias"),
}
_MAX_UNROLLED_LENGTH = 16


def _draw_return_sequences(rng: random.Random, place: LayerPlace) -> Config:
    returns_all = place.keeps_shape or rng.random() < 0.5  # noqa: PLR2004 - all steps and the last step are equally likely
    return {"return_sequences": True} if returns_all else {}


def _draw(rng: random.Random, place: LayerPlace) -> Config:
    features = place.shapes[0][-1]
    units = features if place.keeps_shape else similar_size(rng, features)
    return {"units": units, **_draw_return_sequences(rng, place)}


def shape_of_sequence(config: Config, shapes: Shapes, units: int) -> Shape | None:
    """Return the output's shape, of all steps or of the last step; None if it is not supported."""
    steps, _ = shapes[0]
    if config.get("return_state") or (config.get("unroll") and steps > _MAX_UNROLLED_LENGTH):
        return None
    return (steps, units) if config.get("return_sequences") else (units,)


def _shape(config: Config, shapes: Shapes) -> Shape | None:
    return shape_of_sequence(config, shapes, config["units"])


def _weights_of(gates: int, features: int, units: int) -> int:
    return gates * units * (features + units + 1)


# --- cells --------------------------------------------------------------------------------------


def _nested_layer(layer: str, **config: Json) -> Json:
    return {"layer": layer, "config": config}


def _draw_cells(rng: random.Random, place: LayerPlace) -> Config:
    """Draw one cell, or a stack of two cells."""
    features = place.shapes[0][-1]
    units = features if place.keeps_shape else similar_size(rng, features)
    top = _nested_layer(rng.choice(CELLS), units=units)
    config: Config = {"cell": top, **_draw_return_sequences(rng, place)}
    if rng.random() < _STACK_PROBABILITY:
        first = _nested_layer(rng.choice(CELLS), units=similar_size(rng, min(features, 16)))
        config["cell"] = {"layer": f"{PUBLIC}StackedRNNCells", "config": {"cells": [first, top]}}
    return config


_STACK_PROBABILITY = 0.4


def _cells(config: Config) -> list[Json]:
    cell = config["cell"]
    return list(cell["config"]["cells"]) if "cells" in cell["config"] else [cell]


def _shape_cells(config: Config, shapes: Shapes) -> Shape | None:
    return shape_of_sequence(config, shapes, _cells(config)[-1]["config"]["units"])


def _weights_cells(config: Config, shapes: Shapes) -> int:
    features, count = shapes[0][-1], 0
    for cell in _cells(config):
        units = int(cell["config"]["units"])
        gates = GATES.get(cell["layer"].removeprefix(PUBLIC).removesuffix("Cell"), 1)
        count += _weights_of(gates, features, units)
        features = units
    return count


# --- both directions ----------------------------------------------------------------------------

_MERGE_MODES = ("sum", "mul", "ave")


def _draw_bidirectional(rng: random.Random, place: LayerPlace) -> Config:
    """Draw a layer that runs in both directions, and how its two results are merged."""
    features = place.shapes[0][-1]
    merge = rng.choice((*_MERGE_MODES, "concat"))
    if place.keeps_shape and merge == "concat" and features % 2:
        merge = "sum"
    units = features if place.keeps_shape else similar_size(rng, features)
    if merge == "concat" and place.keeps_shape:
        units = features // 2
    inner = _nested_layer(
        PUBLIC + rng.choice(list(GATES)), units=units, **_draw_return_sequences(rng, place)
    )
    return {"layer": inner} | ({} if merge == "concat" else {"merge_mode": merge})


def _shape_bidirectional(config: Config, shapes: Shapes) -> Shape | None:
    merge = config.get("merge_mode", "concat")
    inner = config["layer"]["config"]
    if merge is None or "units" not in inner:
        return None
    units = inner["units"] * (2 if merge == "concat" else 1)
    return shape_of_sequence(inner, shapes, units)


def _weights_bidirectional(config: Config, shapes: Shapes) -> int:
    inner = config["layer"]
    gates = GATES.get(inner["layer"].removeprefix(PUBLIC), 4)
    return 2 * _weights_of(gates, shapes[0][-1], int(inner["config"]["units"]))


# --- over images --------------------------------------------------------------------------------


def _draw_images(rng: random.Random, place: LayerPlace) -> Config:
    *_, channels = place.shapes[0]
    axes = len(place.shapes[0]) - 2
    filters = channels if place.keeps_shape else similar_size(rng, channels)
    padding = "same" if place.keeps_shape else rng.choice(("same", "valid"))
    return {
        "filters": filters,
        "kernel_size": draw_size(rng, axes, max_width=3),
        "padding": padding,
        **_draw_return_sequences(rng, place),
    }


def _shape_images(config: Config, shapes: Shapes) -> Shape | None:
    steps, *space, _ = shapes[0]
    positions = window_positions(
        tuple(space),
        config["kernel_size"],
        strides=config.get("strides", 1),
        padding=config.get("padding", "valid"),
        dilation=config.get("dilation_rate", 1),
    )
    if positions is None or config.get("return_state"):
        return None
    image = (*positions, config["filters"])
    return (steps, *image) if config.get("return_sequences") else image


def _weights_images(config: Config, shapes: Shapes) -> int:
    axes = len(shapes[0]) - 2
    window = config["kernel_size"]
    taps = 1
    for width in [window] * axes if isinstance(window, int) else window:
        taps *= int(width)
    return 4 * taps * int(config["filters"]) * (shapes[0][-1] + int(config["filters"]))


def _weights_units(gates: int, config: Config, shapes: Shapes) -> int:
    return _weights_of(gates, shapes[0][-1], int(config["units"]))


KINDS = (
    *(
        LayerKind(
            name=name,
            family=Family.RECURRENT,
            ranks=(2,),
            draw=_draw,
            shape=_shape,
            weights=partial(_weights_units, gates),
            varied_arguments=(*_VARIED_ARGUMENTS, *_SPECIFIC_ARGUMENTS[name]),
            is_random=True,
        )
        for name, gates in GATES.items()
    ),
    LayerKind(
        name="RNN",
        family=Family.RECURRENT,
        ranks=(2,),
        draw=_draw_cells,
        shape=_shape_cells,
        weights=_weights_cells,
        varied_arguments=("go_backwards", "unroll"),
    ),
    LayerKind(
        name="Bidirectional",
        family=Family.RECURRENT,
        ranks=(2,),
        draw=_draw_bidirectional,
        shape=_shape_bidirectional,
        weights=_weights_bidirectional,
    ),
    *(
        LayerKind(
            name=f"ConvLSTM{axes}D",
            family=Family.RECURRENT,
            ranks=(rank_of(f"ConvLSTM{axes}D") + 1,),
            draw=_draw_images,
            shape=_shape_images,
            weights=_weights_images,
            varied_arguments=(
                "activation",
                "recurrent_activation",
                "use_bias",
                "go_backwards",
                "dropout",
            ),
            is_random=True,
        )
        for axes in (1, 2, 3)
    ),
)
