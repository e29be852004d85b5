"""Windows that slide over the spatial dimensions: kernels and pools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import Shape
    from ciguard.domain.values import Json

MAX_KERNEL = 5
_AXES = re.compile(r"([123])D")


def rank_of(layer: str) -> int:
    """Rank of the inputs of a layer that slides over as many axes as its name says."""
    found = _AXES.search(layer)
    if found is None:
        msg = f"{layer}: the name says no number of axes"
        raise ValueError(msg)
    return int(found.group(1)) + 1


def per_axis(given: Json, axes: int) -> tuple[int, ...]:
    """Return one number per axis of an argument that is one for all or a list."""
    return (int(given),) * axes if isinstance(given, int) else tuple(map(int, given))


def drawn(rng: random.Random, axes: int, *, least: int = 1, most: int = MAX_KERNEL) -> Json:
    """Draw the size of a window: as one number, or one per axis."""
    if rng.random() < 0.5:  # noqa: PLR2004 - either form as often
        return rng.randint(least, most)
    return [rng.randint(least, most) for _ in range(axes)]


def slid(
    space: Shape, window: Json, *, strides: Json = 1, padding: str = "valid", dilation: Json = 1
) -> Shape | None:
    """Return how often a window fits into each dimension; None where it does not fit at all."""
    axes = len(space)
    found = []
    for size, width, stride, apart in zip(
        space,
        per_axis(window, axes),
        per_axis(strides, axes),
        per_axis(dilation, axes),
        strict=True,
    ):
        if padding != "valid":
            found.append(-(-size // stride))
            continue
        room = size - (width - 1) * apart - 1
        if room < 0:
            return None
        found.append(room // stride + 1)
    return tuple(found)


def spread(
    space: Shape, window: Json, *, strides: Json = 1, padding: str = "valid", dilation: Json = 1
) -> Shape:
    """Return what a transposed convolution makes of each dimension."""
    axes = len(space)
    found = []
    for size, width, stride, apart in zip(
        space,
        per_axis(window, axes),
        per_axis(strides, axes),
        per_axis(dilation, axes),
        strict=True,
    ):
        beyond = max((width - 1) * apart + 1 - stride, 0) if padding == "valid" else 0
        found.append(size * stride + beyond)
    return tuple(found)
