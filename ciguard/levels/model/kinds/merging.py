"""Layers of several inputs: merging and attention."""

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
    kept,
)

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape

_ANY = (1, 2, 3, 4)
_MAX_MERGED = 8


def _shape_elementwise(config: Config, shapes: Shapes) -> Shape | None:
    """Return the shape after broadcasting; ranks must agree."""
    del config
    if len({len(shape) for shape in shapes}) > 1:
        return None
    merged = []
    for sizes in zip(*shapes, strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            return None
        merged.append(wide.pop() if wide else 1)
    return tuple(merged)


def _draw_concatenation(rng: random.Random, place: LayerPlace) -> Config | None:
    if place.keeps:
        return None
    rank = len(place.shapes[0])
    axis = rng.choice((-1, rng.randint(1, rank)))
    return {} if axis == -1 else {"axis": axis}


def _shape_concatenated(config: Config, shapes: Shapes) -> Shape | None:
    axis = config.get("axis", -1)
    at = axis % len(shapes[0]) if axis < 0 else axis - 1
    rests = {shape[:at] + shape[at + 1 :] for shape in shapes}
    if len(rests) > 1:
        return None
    first = shapes[0]
    return (*first[:at], sum(shape[at] for shape in shapes), *first[at + 1 :])


def _draw_dot(rng: random.Random, place: LayerPlace) -> Config | None:
    rank = len(place.shapes[0])
    return None if place.keeps else {"axes": rng.choice((1, rank, [rank, rank]))}


def _shape_dot(config: Config, shapes: Shapes) -> Shape | None:
    axes = config["axes"]
    one, other = (axes, axes) if isinstance(axes, int) else axes
    first, second = shapes
    if min(one, other) < 1 or first[one - 1] != second[other - 1]:
        return None
    left = first[: one - 1] + first[one:] + second[: other - 1] + second[other:]
    return left or (1,)


def _row(
    name: str, draw: Draw, shape: OutputShape, *, most: int = _MAX_MERGED, varying: str = ""
) -> LayerKind:
    return LayerKind(
        name=name,
        family=Family.MERGING,
        ranks=_ANY if name != "Dot" else _ANY[:2],
        draw=draw,
        shape=shape,
        inputs=(2, most),
        as_list=True,
        varying=(varying,) if varying else (),
    )


_MERGING = (
    *(
        _row(name, Choices(), _shape_elementwise)
        for name in ("Add", "Average", "Maximum", "Minimum", "Multiply")
    ),
    _row("Subtract", Choices(), _shape_elementwise, most=2),
    _row("Concatenate", _draw_concatenation, _shape_concatenated),
    _row("Dot", _draw_dot, _shape_dot, most=2, varying="normalize"),
)

# --- attention ----------------------------------------------------------------------------------


def _shape_attention(config: Config, shapes: Shapes) -> Shape | None:
    del config
    query, value = shapes[:2]
    key = shapes[2] if len(shapes) > 2 else value  # noqa: PLR2004 - query, value, key
    if key[:-1] != value[:-1] or query[-1] != key[-1]:
        return None
    return (*query[:-1], value[-1])


def _scores(config: Config, shapes: Shapes) -> int:
    heads = int(config.get("num_heads") or config.get("num_query_heads") or 1)
    width = shapes[0][-1] if config.get("score_mode") == "concat" else 1
    axes = config.get("attention_axes")
    query, value = shapes[0][:-1], shapes[1][:-1]
    if axes is None:
        return heads * width * prod(query) * prod(value)
    attended = [at - 1 for at in ([axes] if isinstance(axes, int) else axes)]
    rest = prod(size for at, size in enumerate(query) if at not in attended)
    return heads * rest * prod(query[at] * value[at] for at in attended)


def _added_scores(config: Config, shapes: Shapes) -> int:
    return _scores(config, shapes) * shapes[0][-1]


def _draw_multi_head(rng: random.Random, place: LayerPlace) -> Config:
    config: Config = {"num_heads": rng.randint(1, 4), "key_dim": rng.randint(1, 8)}
    if rng.random() < _RARE:
        config["value_dim"] = rng.randint(1, 8)
    if len(place.shapes[0]) > 2 and rng.random() < _USUAL:  # noqa: PLR2004 - (steps, features)
        config["attention_axes"] = [rng.randint(1, len(place.shapes[0]) - 1)]
    if not place.keeps:
        config["output_shape"] = rng.randint(1, 8)
    return config


_RARE, _USUAL = 0.2, 0.7


def _shape_multi_head(config: Config, shapes: Shapes) -> Shape | None:
    query, value = shapes[:2]
    if len(query) != len(value):
        return None
    asked = config.get("output_shape")
    if asked is None:
        return query
    return (*query[:-1], *([asked] if isinstance(asked, int) else asked))


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


def _one(config: Config, shapes: Shapes) -> int:
    """One scale for all scores, where there is one."""
    del shapes
    return int(bool(config.get("use_scale")))


def _features(config: Config, shapes: Shapes) -> int:
    return shapes[0][-1] if config.get("use_scale", True) else 0


def _listed(name: str, weights: Count, scratch: Count, varying: tuple[str, ...]) -> LayerKind:
    return LayerKind(
        name=name,
        family=Family.ATTENTION,
        ranks=(2,),
        draw=Choices(sometimes={"dropout": (0.0, 0.3)}),
        shape=_shape_attention,
        weights=weights,
        scratch=scratch,
        inputs=(2, 3),
        as_list=True,
        varying=varying,
        is_random=True,
    )


_ATTENTION = (
    _listed("Attention", _one, _added_scores, ("use_scale", "score_mode")),
    _listed("AdditiveAttention", _features, _added_scores, ("use_scale",)),
    LayerKind(
        name="MultiHeadAttention",
        family=Family.ATTENTION,
        ranks=(2, 3, 4),
        draw=_draw_multi_head,
        shape=_shape_multi_head,
        weights=_weights_multi_head,
        scratch=_scores,
        inputs=(2, 3),
        varying=("use_bias", "dropout"),
        is_random=True,
    ),
    LayerKind(
        name="GroupQueryAttention",
        family=Family.ATTENTION,
        ranks=(2,),
        draw=_draw_grouped,
        shape=kept,
        weights=_weights_grouped,
        scratch=_scores,
        inputs=(2, 3),
        varying=("use_bias", "dropout"),
        is_random=True,
    ),
)

KINDS = (*_MERGING, *_ATTENTION)
