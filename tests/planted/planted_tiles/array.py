"""The arrays of the library."""

from __future__ import annotations

from typing import Any

import numpy as np


class Tile:
    """An array whose elements never change."""

    def __init__(self, array: Any) -> None:
        self.array: Any = np.asarray(array)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions."""
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def dtype(self) -> str:
        """Name of its element type."""
        return str(self.array.dtype)

    def cast(self, dtype: str) -> Tile:
        """Return the same elements as another type."""
        return Tile(self.array.astype(dtype))

    def reshape(self, shape: tuple[int, ...]) -> Tile:
        """Return the same elements in another shape."""
        return Tile(self.array.reshape(shape))

    def flatten(self, start: int) -> Tile:
        """Return the dimensions from one on as a single one."""
        return Tile(self.array.reshape((*self.array.shape[:start], -1)))

    def tolist(self) -> Any:
        """Return nested lists."""
        return self.array.tolist()
