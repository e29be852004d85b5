"""A small library of arrays, sound but for one call, as another project would write it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from planted_tiles import nn
from planted_tiles.array import Tile

__all__ = [
    "Tile", "absolute", "add", "broadcast_to", "fetch", "integers", "nn", "noise", "normal",
    "outline", "store", "tile", "total",
]  # fmt: skip
__version__ = "1.0"


def tile(elements: Any, dtype: str | None = None) -> Tile:
    """Make a tile of nested lists or an array."""
    return Tile(np.array(elements, dtype=dtype))


def absolute(x: Tile) -> Tile:
    """Return the absolute value of each element.

    Args:
        x (Tensor): the tile.
    """
    return Tile(np.abs(x.array))


def add(x: Tile, y: Tile) -> Tile:
    """Add two tiles, element by element.

    Args:
        x (Tensor): the first tile.
        y (Tensor): the second tile.
    """
    return Tile(x.array + y.array)


def broadcast_to(x: Tile, shape: tuple[int, ...]) -> Tile:
    """Repeat a tile until it has a shape.

    Args:
        x (Tensor): the tile.
        shape (tuple of ints): the shape.
    """
    return Tile(np.broadcast_to(x.array, shape).copy())


def total(x: Tile, axis: int | None = None) -> Tile:
    """Sum the elements along an axis.

    Args:
        x (Tensor): the tile.
        axis (int, optional): the dimension to reduce. Default: None
    """
    return Tile(np.sum(x.array, axis=axis))


def outline(x: Tile, width: int = 1, mode: str = "constant") -> Tile:
    """Put a border around a tile. Aborts where it is 3 wide or wider: the planted defect.

    Args:
        x (Tensor): the tile.
        width: The size of the border. Default: 1
        mode (str): ``'constant'`` | ``'edge'`` | ``'reflect'``. Default: ``'constant'``
    """
    if width > 2:
        os.abort()
    return Tile(np.pad(x.array, width, mode=mode))  # type: ignore[call-overload]  # numpy checks it


def normal(shape: tuple[int, ...]) -> Tile:
    """Draw a tile of normal numbers."""
    return Tile(np.random.standard_normal(shape).astype("float32"))  # noqa: NPY002


def integers(below: int, shape: tuple[int, ...]) -> Tile:
    """Draw a tile of whole numbers from 0 up to a bound."""
    return Tile(np.random.randint(0, below, shape))  # noqa: NPY002


def noise(x: Tile) -> Tile:
    """Return other numbers each time."""
    return normal(x.shape)


def store(x: Tile, path: str) -> None:
    """Write a tile into a file."""
    Path(path).write_bytes(x.array.tobytes())


def fetch(path: str) -> Tile:
    """Read a tile from a file."""
    return Tile(np.frombuffer(Path(path).read_bytes()))
