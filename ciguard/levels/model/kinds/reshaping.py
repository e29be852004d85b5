"""Layers that move, crop, pad or repeat elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.kinds.windows import per_axis
from ciguard.levels.model.layers import Config, Family, LayerKind, LayerPlace, Shapes, elements

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from ciguard.domain.models import Shape
    from ciguard.domain.values import Json

_ANY_RANK = (1, 2, 3, 4)


def _draw_flatten(rng: random.Random, place: LayerPlace) -> Config | None:
    del rng
    return None if place.keeps_shape else {}


def _shape_flatten(config: Config, shapes: Shapes) -> Shape:
    del config
    return (elements(shapes[0]),)


def _draw_reshape(rng: random.Random, place: LayerPlace) -> Config | None:
    """Draw a target shape in which two sizes are joined, or one is split."""
    sizes = list(place.shapes[0])
    if place.keeps_shape:
        return {"target_shape": [*sizes[:-1], -1]}
    axis = rng.randrange(len(sizes))
    divisors = [n for n in range(2, sizes[axis]) if sizes[axis] % n == 0]
    if len(sizes) > 1 and (
        not divisors or rng.random() < _JOIN_PROBABILITY or len(sizes) == _ANY_RANK[-1]
    ):
        first = rng.randrange(len(sizes) - 1)
        sizes[first : first + 2] = [sizes[first] * sizes[first + 1]]
    elif divisors:
        factor = rng.choice(divisors)
        sizes[axis : axis + 1] = [factor, sizes[axis] // factor]
    else:
        sizes.insert(rng.randint(0, 1), 1)
    return {"target_shape": sizes}


_JOIN_PROBABILITY = 0.5


def _shape_reshape(config: Config, shapes: Shapes) -> Shape | None:
    target_shape, count = list(config["target_shape"]), elements(shapes[0])
    known_count = elements(tuple(size for size in target_shape if size != -1))
    if -1 in target_shape and known_count:
        target_shape[target_shape.index(-1)] = count // known_count
    return tuple(target_shape) if elements(tuple(target_shape)) == count else None


def _draw_permute(rng: random.Random, place: LayerPlace) -> Config:
    """Draw an order of the dimensions; if the shape must stay, only equal sizes are exchanged."""
    shape = place.shapes[0]
    order = list(range(len(shape)))
    rng.shuffle(order)
    if place.keeps_shape:
        free = {size: [axis for axis in order if shape[axis] == size] for size in set(shape)}
        order = [free[size].pop() for size in shape]
    return {"dims": [axis + 1 for axis in order]}


def _shape_permute(config: Config, shapes: Shapes) -> Shape:
    return tuple(shapes[0][axis - 1] for axis in config["dims"])


def _draw_repeat(rng: random.Random, place: LayerPlace) -> Config:
    del place
    return {"n": rng.randint(1, 4)}


def _shape_repeat(config: Config, shapes: Shapes) -> Shape:
    return (config["n"], *shapes[0])


# --- edges --------------------------------------------------------------------------------------


def edges(argument: Json, axes: int) -> tuple[tuple[int, int], ...]:
    """Return how many elements to crop or pad at both ends of each axis.

    Args:
        argument: one number for all ends; or a list with one number or one pair per axis. For a
            single axis, it may also be a pair.
        axes: the number of axes.
    """
    if isinstance(argument, int):
        return ((argument, argument),) * axes
    if axes == 1 and len(argument) == 2:  # noqa: PLR2004 - a pair
        return ((int(argument[0]), int(argument[1])),)
    return tuple((n, n) if isinstance(n, int) else (int(n[0]), int(n[1])) for n in argument)


def _draw_edges(rng: random.Random, limits: Iterable[int]) -> Json:
    pairs = [[rng.randint(0, limit), rng.randint(0, limit)] for limit in limits]
    return pairs[0] if len(pairs) == 1 else pairs


def _draw_padding(rng: random.Random, place: LayerPlace) -> Config | None:
    space = place.shapes[0][:-1]
    return None if place.keeps_shape else {"padding": _draw_edges(rng, (2 for _ in space))}


def _draw_cropping(rng: random.Random, place: LayerPlace) -> Config | None:
    space = place.shapes[0][:-1]
    if place.keeps_shape:
        return None
    return {"cropping": _draw_edges(rng, (min(2, (size - 1) // 2) for size in space))}


def _shape_padded(config: Config, shapes: Shapes) -> Shape:
    *space, channels = shapes[0]
    sides = edges(config.get("padding", 1), len(space))
    return (*(n + a + b for n, (a, b) in zip(space, sides, strict=True)), channels)


def _shape_cropped(config: Config, shapes: Shapes) -> Shape | None:
    *space, channels = shapes[0]
    sides = edges(config.get("cropping", 1), len(space))
    left = [n - a - b for n, (a, b) in zip(space, sides, strict=True)]
    return (*left, channels) if min(left) > 0 else None


def _draw_upsampling(rng: random.Random, place: LayerPlace) -> Config | None:
    axes = len(place.shapes[0]) - 1
    if place.keeps_shape:
        return None
    return {"size": [rng.randint(1, 3) for _ in range(axes)] if axes > 1 else rng.randint(1, 3)}


def _shape_upsampled(config: Config, shapes: Shapes) -> Shape:
    *space, channels = shapes[0]
    factors = per_axis(config.get("size", 2), len(space))
    return (*(n * factor for n, factor in zip(space, factors, strict=True)), channels)


KINDS = (
    *(
        LayerKind(name=name, family=Family.RESHAPING, ranks=ranks, draw=draw, shape=shape)
        for name, ranks, draw, shape in (
            ("Flatten", _ANY_RANK, _draw_flatten, _shape_flatten),
            ("Reshape", _ANY_RANK, _draw_reshape, _shape_reshape),
            ("Permute", _ANY_RANK, _draw_permute, _shape_permute),
            ("RepeatVector", (1,), _draw_repeat, _shape_repeat),
        )
    ),
    *(
        LayerKind(
            name=f"{name}{axes}D",
            family=Family.RESHAPING,
            ranks=(axes + 1,),
            draw=draw,
            shape=shape,
            varied_arguments=("interpolation",) if (name, axes) == ("UpSampling", 2) else (),
        )
        for name, draw, shape in (
            ("ZeroPadding", _draw_padding, _shape_padded),
            ("Cropping", _draw_cropping, _shape_cropped),
            ("UpSampling", _draw_upsampling, _shape_upsampled),
        )
        for axes in (1, 2, 3)
    ),
)
