"""Layers that hold another layer."""

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

_ALL = {
    kind.public: kind
    for module in (convolution, core, elementwise, pooling, reshaping)
    for kind in module.KINDS
}
"""Layers that may be wrapped, by public name."""
_DISTRIBUTED = [
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
"""Over steps; each for the rank of one step."""
_WITH_KERNEL = ["Dense", "EinsumDense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose"]
_IN_PIPELINE = ["Activation", "ReLU", "LayerNormalization", "Dense", "Normalization", "Identity"]


def _kinds(names: Iterable[str], shape: Shape) -> list[LayerKind]:
    found = [_ALL[PUBLIC + name] for name in names]
    return [kind for kind in found if kind.fits((shape,)) and kind.takes is Elements.FLOATS]


def _inner(rng: random.Random, names: Iterable[str], place: LayerPlace) -> Json:
    """Draw a wrapped layer; None where there is none."""
    kinds = _kinds(names, place.shapes[0])
    kind = rng.choice(kinds) if kinds else None
    config = kind.draw(rng, place) if kind else None
    return None if kind is None or config is None else {"layer": kind.public, "config": config}


def _shape_inner(nested: Json, shape: Shape) -> Shape | None:
    kind = _ALL.get(nested["layer"])
    fits = kind is not None and kind.fits((shape,))
    return kind.shape(nested["config"], (shape,)) if kind and fits else None


def _weights_inner(nested: Json, shape: Shape) -> int:
    kind = _ALL.get(nested["layer"])
    return kind.weights(nested["config"], (shape,)) if kind else 0


# --- over steps ---------------------------------------------------------------------------------


def _draw_distributed(rng: random.Random, place: LayerPlace) -> Config | None:
    step = LayerPlace((place.shapes[0][1:],), place.keeps)
    inner = _inner(rng, _DISTRIBUTED, step)
    return None if inner is None else {"layer": inner}


def _shape_distributed(config: Config, shapes: Shapes) -> Shape | None:
    steps, *step = shapes[0]
    found = _shape_inner(config["layer"], tuple(step))
    return None if found is None else (steps, *found)


def _weights_distributed(config: Config, shapes: Shapes) -> int:
    return _weights_inner(config["layer"], shapes[0][1:])


# --- with a normalised kernel -------------------------------------------------------------------


def _draw_spectral(rng: random.Random, place: LayerPlace) -> Config | None:
    inner = _inner(rng, _WITH_KERNEL, place)
    return None if inner is None else {"layer": inner}


def _shape_wrapped(config: Config, shapes: Shapes) -> Shape | None:
    return _shape_inner(config["layer"], shapes[0])


def _weights_wrapped(config: Config, shapes: Shapes) -> int:
    return _weights_inner(config["layer"], shapes[0])


# --- one after the other ------------------------------------------------------------------------


def _draw_pipeline(rng: random.Random, place: LayerPlace) -> Config | None:
    keeping = LayerPlace(place.shapes, keeps=True)
    inner = [_inner(rng, _IN_PIPELINE, keeping) for _ in range(rng.randint(1, 3))]
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
        varying=("power_iterations",),
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
