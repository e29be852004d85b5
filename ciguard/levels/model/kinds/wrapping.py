"""Layers that wrap another layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.kinds import convolution, core, elementwise, pooling, reshaping
from ciguard.levels.model.layers import (
    PUBLIC,
    Config,
    Elements,
    Family,
    LayerKind,
    LayerPlace,
    Shapes,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from ciguard.domain.models import Shape
    from ciguard.domain.values import Json

_WRAPPABLE = {
    kind.public: kind
    for module in (convolution, core, elementwise, pooling, reshaping)
    for kind in module.KINDS
}
"""Layers that may be wrapped, by public class name."""
_STEP_LAYERS = [
    "Dense",
    "Conv1D",
    "Conv2D",
    "DepthwiseConv2D",
    "MaxPooling1D",
    "AveragePooling2D",
    "GlobalMaxPooling1D",
    "LayerNormalization",
    "PReLU",
    "Flatten",
    "Permute",
    "Activation",
]
"""Layers for `TimeDistributed`, which runs a layer once per step."""
_LAYERS_WITH_KERNEL = ["Dense", "EinsumDense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose"]
"""Layers for `SpectralNormalization`, which normalises a kernel."""
_PIPELINE_LAYERS = [
    "Activation",
    "ReLU",
    "LayerNormalization",
    "Dense",
    "Normalization",
    "Identity",
]


def _kinds(names: Iterable[str], shape: Shape) -> list[LayerKind]:
    candidates = [_WRAPPABLE[PUBLIC + name] for name in names]
    return [
        kind
        for kind in candidates
        if kind.fits((shape,)) and kind.input_elements is Elements.FLOATS
    ]


def _draw_inner(rng: random.Random, names: Iterable[str], place: LayerPlace) -> Json:
    """Draw a layer to wrap, as a nested configuration; None if no layer fits the place."""
    kinds = _kinds(names, place.shapes[0])
    kind = rng.choice(kinds) if kinds else None
    config = kind.draw(rng, place) if kind else None
    return None if kind is None or config is None else {"layer": kind.public, "config": config}


def _shape_inner(nested: Json, shape: Shape) -> Shape | None:
    kind = _WRAPPABLE.get(nested["layer"])
    fits = kind is not None and kind.fits((shape,))
    return kind.shape(nested["config"], (shape,)) if kind and fits else None


def _weights_inner(nested: Json, shape: Shape) -> int:
    kind = _WRAPPABLE.get(nested["layer"])
    return kind.weights(nested["config"], (shape,)) if kind else 0


# --- over steps ---------------------------------------------------------------------------------


def _draw_distributed(rng: random.Random, place: LayerPlace) -> Config | None:
    step = LayerPlace((place.shapes[0][1:],), place.keeps_shape)
    inner = _draw_inner(rng, _STEP_LAYERS, step)
    return None if inner is None else {"layer": inner}


def _shape_distributed(config: Config, shapes: Shapes) -> Shape | None:
    steps, *step = shapes[0]
    step_shape = _shape_inner(config["layer"], tuple(step))
    return None if step_shape is None else (steps, *step_shape)


def _weights_distributed(config: Config, shapes: Shapes) -> int:
    return _weights_inner(config["layer"], shapes[0][1:])


# --- with a normalised kernel -------------------------------------------------------------------


def _draw_spectral(rng: random.Random, place: LayerPlace) -> Config | None:
    inner = _draw_inner(rng, _LAYERS_WITH_KERNEL, place)
    return None if inner is None else {"layer": inner}


def _shape_wrapped(config: Config, shapes: Shapes) -> Shape | None:
    return _shape_inner(config["layer"], shapes[0])


def _weights_wrapped(config: Config, shapes: Shapes) -> int:
    return _weights_inner(config["layer"], shapes[0])


# --- one after the other ------------------------------------------------------------------------


def _draw_pipeline(rng: random.Random, place: LayerPlace) -> Config | None:
    keeping = LayerPlace(place.shapes, keeps_shape=True)
    inner = [_draw_inner(rng, _PIPELINE_LAYERS, keeping) for _ in range(rng.randint(1, 3))]
    return None if None in inner else {"layers": inner}


def _shape_pipeline(config: Config, shapes: Shapes) -> Shape | None:
    shape: Shape | None = shapes[0]
    for nested in config["layers"]:
        shape = None if shape is None else _shape_inner(nested, shape)
    return shape


def _weights_pipeline(config: Config, shapes: Shapes) -> int:
    return sum(_weights_inner(nested, shapes[0]) for nested in config["layers"])


KINDS = (
    LayerKind(
        name="TimeDistributed",
        family=Family.RECURRENT,
        ranks=(2, 3, 4),
        draw=_draw_distributed,
        shape=_shape_distributed,
        weights=_weights_distributed,
    ),
    LayerKind(
        name="SpectralNormalization",
        family=Family.NORMALISATION,
        ranks=(1, 2, 3, 4),
        draw=_draw_spectral,
        shape=_shape_wrapped,
        weights=_weights_wrapped,
        varied_arguments=("power_iterations",),
    ),
    LayerKind(
        name="Pipeline",
        family=Family.PREPROCESSING,
        ranks=(1, 2, 3),
        draw=_draw_pipeline,
        shape=_shape_pipeline,
        weights=_weights_pipeline,
    ),
)
