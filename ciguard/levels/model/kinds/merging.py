"""Layers with several inputs: merging and attention."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ciguard.levels.model.layers import (
    Choices,
    Config,
    Count,
    Draw,
    Family,
    LayerKind,
    LayerPlace,
    OutputShape,
    Shapes,
    same_shape,
)

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape

_ANY_RANK = (1, 2, 3, 4)
_MAX_MERGED = 8
"""Maximum number of inputs of a merging layer."""


def _shape_elementwise(config: Config, shapes: Shapes) -> Shape | None:
    """Return the output's shape after broadcasting; None if the shapes do not match."""
    del config
    if len({len(shape) for shape in shapes}) > 1:
        return None
    merged = []
    for sizes in zip(*shapes, strict=True):
        larger_sizes = {size for size in sizes if size != 1}
        if len(larger_sizes) > 1:
            return None
        merged.append(larger_sizes.pop() if larger_sizes else 1)
    return tuple(merged)


def _draw_concatenation(rng: random.Random, place: LayerPlace) -> Config | None:
    if place.keeps_shape:
        return None
    rank = len(place.shapes[0])
    axis = rng.choice((-1, rng.randint(1, rank)))
    return {} if axis == -1 else {"axis": axis}


def _shape_concatenated(config: Config, shapes: Shapes) -> Shape | None:
    axis = config.get("axis", -1)
    index = axis % len(shapes[0]) if axis < 0 else axis - 1
    rests = {shape[:index] + shape[index + 1 :] for shape in shapes}
    if len(rests) > 1:
        return None
    first = shapes[0]
    return (*first[:index], sum(shape[index] for shape in shapes), *first[index + 1 :])


def _draw_dot(rng: random.Random, place: LayerPlace) -> Config | None:
    rank = len(place.shapes[0])
    return None if place.keeps_shape else {"axes": rng.choice((1, rank, [rank, rank]))}


def _shape_dot(config: Config, shapes: Shapes) -> Shape | None:
    axes = config["axes"]
    first_axis, second_axis = (axes, axes) if isinstance(axes, int) else axes
    first, second = shapes
    if min(first_axis, second_axis) < 1 or first[first_axis - 1] != second[second_axis - 1]:
        return None
    left = (
        first[: first_axis - 1]
        + first[first_axis:]
        + second[: second_axis - 1]
        + second[second_axis:]
    )
    return left or (1,)


def _row(
    name: str,
    draw: Draw,
    shape: OutputShape,
    *,
    max_inputs: int = _MAX_MERGED,
    varied_arguments: str = "",
) -> LayerKind:
    return LayerKind(
        name=name,
        family=Family.MERGING,
        ranks=_ANY_RANK if name != "Dot" else _ANY_RANK[:2],
        draw=draw,
        shape=shape,
        inputs=(2, max_inputs),
        as_list=True,
        varied_arguments=(varied_arguments,) if varied_arguments else (),
    )


_MERGING = (
    *(
        _row(name, Choices(), _shape_elementwise)
        for name in ("Add", "Average", "Maximum", "Minimum", "Multiply")
    ),
    _row("Subtract", Choices(), _shape_elementwise, max_inputs=2),
    _row("Concatenate", _draw_concatenation, _shape_concatenated),
    _row("Dot", _draw_dot, _shape_dot, max_inputs=2, varied_arguments="normalize"),
)

# --- attention ----------------------------------------------------------------------------------


def _shape_attention(config: Config, shapes: Shapes) -> Shape | None:
    del config
    query, value = shapes[:2]
    key = shapes[2] if len(shapes) > 2 else value  # noqa: PLR2004 - query, value, key
    if key[:-1] != value[:-1] or query[-1] != key[-1]:
        return None
    return (*query[:-1], value[-1])


def _score_elements(config: Config, shapes: Shapes) -> int:
    heads = int(config.get("num_heads") or config.get("num_query_heads") or 1)
    width = shapes[0][-1] if config.get("score_mode") == "concat" else 1
    axes = config.get("attention_axes")
    query, value = shapes[0][:-1], shapes[1][:-1]
    if axes is None:
        return heads * width * prod(query) * prod(value)
    attended = [axis - 1 for axis in ([axes] if isinstance(axes, int) else axes)]
    rest = prod(size for axis, size in enumerate(query) if axis not in attended)
    return heads * rest * prod(query[axis] * value[axis] for axis in attended)


def _additive_score_elements(config: Config, shapes: Shapes) -> int:
    return _score_elements(config, shapes) * shapes[0][-1]


def _draw_multi_head(rng: random.Random, place: LayerPlace) -> Config:
    config: Config = {"num_heads": rng.randint(1, 4), "key_dim": rng.randint(1, 8)}
    if rng.random() < _VALUE_DIM_PROBABILITY:
        config["value_dim"] = rng.randint(1, 8)
    if len(place.shapes[0]) > 2 and rng.random() < _AXES_PROBABILITY:  # noqa: PLR2004 - (steps, features)
        config["attention_axes"] = [rng.randint(1, len(place.shapes[0]) - 1)]
    if not place.keeps_shape:
        config["output_shape"] = rng.randint(1, 8)
    return config


_VALUE_DIM_PROBABILITY, _AXES_PROBABILITY = 0.2, 0.7


def _shape_multi_head(config: Config, shapes: Shapes) -> Shape | None:
    query, value = shapes[:2]
    if len(query) != len(value):
        return None
    output_shape = config.get("output_shape")
    if output_shape is None:
        return query
    return (*query[:-1], *([output_shape] if isinstance(output_shape, int) else output_shape))


def _weights_multi_head(config: Config, shapes: Shapes) -> int:
    sizes = config["num_heads"] * (config["key_dim"] + config.get("value_dim", config["key_dim"]))
    return 2 * int(sizes) * max(shape[-1] for shape in shapes)


def _draw_grouped(rng: random.Random, place: LayerPlace) -> Config:
    del place
    groups = rng.randint(1, 3)
    return {
        "head_dim": 2 * rng.randint(1, 4),
        "num_query_heads": groups * rng.randint(1, 2),
        "num_key_value_heads": groups,
    }


def _weights_grouped(config: Config, shapes: Shapes) -> int:
    heads = 2 * config["num_query_heads"] + 2 * config["num_key_value_heads"]
    return int(heads) * int(config["head_dim"]) * shapes[0][-1]


def _scale_weights(config: Config, shapes: Shapes) -> int:
    """Return 1 if the layer has a scale for all scores, else 0."""
    del shapes
    return int(bool(config.get("use_scale")))


def _feature_weights(config: Config, shapes: Shapes) -> int:
    return shapes[0][-1] if config.get("use_scale", True) else 0


def _attention(
    name: str, weights: Count, scratch_elements: Count, varied_arguments: tuple[str, ...]
) -> LayerKind:
    return LayerKind(
        name=name,
        family=Family.ATTENTION,
        ranks=(2,),
        draw=Choices(sometimes={"dropout": (0.0, 0.3)}),
        shape=_shape_attention,
        weights=weights,
        scratch_elements=scratch_elements,
        inputs=(2, 3),
        as_list=True,
        varied_arguments=varied_arguments,
        is_random=True,
    )


_ATTENTION = (
    _attention("Attention", _scale_weights, _additive_score_elements, ("use_scale", "score_mode")),
    _attention("AdditiveAttention", _feature_weights, _additive_score_elements, ("use_scale",)),
    LayerKind(
        name="MultiHeadAttention",
        family=Family.ATTENTION,
        ranks=(2, 3, 4),
        draw=_draw_multi_head,
        shape=_shape_multi_head,
        weights=_weights_multi_head,
        scratch_elements=_score_elements,
        inputs=(2, 3),
        varied_arguments=("use_bias", "dropout"),
        is_random=True,
    ),
    LayerKind(
        name="GroupQueryAttention",
        family=Family.ATTENTION,
        ranks=(2,),
        draw=_draw_grouped,
        shape=same_shape,
        weights=_weights_grouped,
        scratch_elements=_score_elements,
        inputs=(2, 3),
        varied_arguments=("use_bias", "dropout"),
        is_random=True,
    ),
)

KINDS = (*_MERGING, *_ATTENTION)
