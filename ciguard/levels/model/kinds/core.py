"""Dense layers, and layers that produce or consume integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.layers import (
    TOKENS,
    Config,
    Elements,
    Family,
    LayerKind,
    LayerPlace,
    Shapes,
    elements,
    same_shape,
    similar_size,
)

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape


def _draw_dense(rng: random.Random, place: LayerPlace) -> Config:
    features = place.shapes[0][-1]
    return {"units": features if place.keeps_shape else similar_size(rng, features)}


def _shape_dense(config: Config, shapes: Shapes) -> Shape:
    return (*shapes[0][:-1], config["units"])


def _weights_dense(config: Config, shapes: Shapes) -> int:
    return (shapes[0][-1] + 1) * int(config["units"])


_LETTERS = "bcdefg"


def _draw_einsum(rng: random.Random, place: LayerPlace) -> Config:
    """Draw an equation that multiplies one dimension, often the last one, by a matrix."""
    shape = place.shapes[0]
    letters = _LETTERS[: len(shape)]
    axis = rng.choice((len(shape) - 1, rng.randrange(len(shape))))
    size = shape[axis] if place.keeps_shape else similar_size(rng, shape[axis])
    out = letters[:axis] + "z" + letters[axis + 1 :]
    sizes = [*shape[:axis], size, *shape[axis + 1 :]]
    config: Config = {
        "equation": f"a{letters},{letters[axis]}z->a{out}",
        "output_shape": sizes,
    }
    return config | ({"bias_axes": "z"} if rng.random() < _BIAS_PROBABILITY else {})


_BIAS_PROBABILITY = 0.5


def _shape_einsum(config: Config, shapes: Shapes) -> Shape | None:
    output_shape = config["output_shape"]
    sizes = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
    return sizes if len(sizes) == len(shapes[0]) and None not in sizes else None


def _weights_einsum(config: Config, shapes: Shapes) -> int:
    before, after = shapes[0], _shape_einsum(config, shapes) or shapes[0]
    changed = [a * b for a, b in zip(before, after, strict=True) if a != b]
    return changed[0] if changed else max(before) ** 2


def _draw_bins(rng: random.Random, place: LayerPlace) -> Config | None:
    if place.keeps_shape:
        return None
    count = rng.randint(1, TOKENS - 1)
    return {"bin_boundaries": sorted(round(rng.uniform(-1, 2), 3) for _ in range(count))}


def _draw_embedding(rng: random.Random, place: LayerPlace) -> Config:
    del place
    return {"input_dim": TOKENS + rng.randint(0, 4), "output_dim": rng.randint(1, 6)}


def _shape_embedding(config: Config, shapes: Shapes) -> Shape:
    return (*shapes[0], config["output_dim"])


def _weights_embedding(config: Config, shapes: Shapes) -> int:
    del shapes
    return int(config["input_dim"]) * int(config["output_dim"])


def _draw_encoding(rng: random.Random, place: LayerPlace) -> Config:
    # In Keras 3.15.1, the output of several rows in these modes has another shape than declared.
    is_one_row = len(place.shapes[0]) == 1
    modes = ("one_hot", "multi_hot", "count") if is_one_row else ("one_hot",)
    return {"num_tokens": TOKENS + rng.randint(0, 2), "output_mode": rng.choice(modes)}


def _shape_encoding(config: Config, shapes: Shapes) -> Shape:
    shape, tokens = shapes[0], config["num_tokens"]
    is_wider = config.get("output_mode", "multi_hot") == "one_hot"
    if is_wider and (shape[-1] != 1 or not shape[:-1]):
        return (*shape, tokens) if shape[-1] != 1 else (tokens,)
    return (*shape[:-1], tokens)


def _scratch_encoding(config: Config, shapes: Shapes) -> int:
    return elements(shapes[0]) * int(config["num_tokens"])


_ANY_RANK = (1, 2, 3, 4)

KINDS = (
    LayerKind(
        name="Dense",
        family=Family.CORE,
        ranks=_ANY_RANK,
        draw=_draw_dense,
        shape=_shape_dense,
        weights=_weights_dense,
        varied_arguments=("activation", "use_bias"),
    ),
    LayerKind(
        name="EinsumDense",
        family=Family.CORE,
        ranks=_ANY_RANK,
        draw=_draw_einsum,
        shape=_shape_einsum,
        weights=_weights_einsum,
        varied_arguments=("activation",),
    ),
    LayerKind(
        name="Discretization",
        family=Family.PREPROCESSING,
        ranks=_ANY_RANK,
        draw=_draw_bins,
        shape=same_shape,
        output_elements=Elements.TOKENS,
    ),
    *(
        LayerKind(
            name=name,
            family=Family.CORE,
            ranks=_ANY_RANK[:3],
            draw=_draw_embedding,
            shape=_shape_embedding,
            weights=_weights_embedding,
            input_elements=Elements.TOKENS,
        )
        for name in ("Embedding", "ReversibleEmbedding")
    ),
    LayerKind(
        name="CategoryEncoding",
        family=Family.PREPROCESSING,
        ranks=(1, 2),
        draw=_draw_encoding,
        shape=_shape_encoding,
        scratch_elements=_scratch_encoding,
        input_elements=Elements.TOKENS,
    ),
)
