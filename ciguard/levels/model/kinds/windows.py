"""Windows that slide over the spatial dimensions: kernels and pools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape
    from ciguard.domain.values import Json

MAX_KERNEL = 5
"""Largest width of a drawn window."""
_AXES = re.compile(r"([123])D")


def rank_of(layer: str) -> int:
    """Return the rank of a layer's inputs, from the number of axes in its name."""
    match = _AXES.search(layer)
    if match is None:
        msg = f"{layer}: the name has no number of axes, such as 2D"
        raise ValueError(msg)
    return int(match.group(1)) + 1


def per_axis(argument: Json, axes: int) -> tuple[int, ...]:
    """Return an argument as one number per axis; the argument is a number or a list."""
    return (int(argument),) * axes if isinstance(argument, int) else tuple(map(int, argument))


def draw_size(
    rng: random.Random, axes: int, *, min_width: int = 1, max_width: int = MAX_KERNEL
) -> Json:
    """Draw the size of a window, as one number or as a list with one number per axis."""
    if rng.random() < 0.5:  # noqa: PLR2004 - even odds
        return rng.randint(min_width, max_width)
    return [rng.randint(min_width, max_width) for _ in range(axes)]


def window_positions(
    space: Shape, window: Json, *, strides: Json = 1, padding: str = "valid", dilation: Json = 1
) -> Shape | None:
    """Return the number of window positions per dimension; None if the window does not fit."""
    axes = len(space)
    positions = []
    for size, width, stride, spacing in zip(
        space,
        per_axis(window, axes),
        per_axis(strides, axes),
        per_axis(dilation, axes),
        strict=True,
    ):
        if padding != "valid":
            positions.append(-(-size // stride))
            continue
        free = size - (width - 1) * spacing - 1
        if free < 0:
            return None
        positions.append(free // stride + 1)
    return tuple(positions)


def transposed_size(
    space: Shape, window: Json, *, strides: Json = 1, padding: str = "valid", dilation: Json = 1
) -> Shape:
    """Return the size of each dimension after a transposed convolution."""
    axes = len(space)
    sizes = []
    for size, width, stride, spacing in zip(
        space,
        per_axis(window, axes),
        per_axis(strides, axes),
        per_axis(dilation, axes),
        strict=True,
    ):
        excess = max((width - 1) * spacing + 1 - stride, 0) if padding == "valid" else 0
        sizes.append(size * stride + excess)
    return tuple(sizes)
