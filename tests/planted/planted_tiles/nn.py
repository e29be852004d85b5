"""Layers."""

from __future__ import annotations

import numpy as np

from planted_tiles.array import Tile


class Module:
    """What is called with data, and passes it to `forward`."""

    def __call__(self, x: Tile) -> Tile:
        """Return the output for an input."""
        return self.forward(x)

    def forward(self, x: Tile) -> Tile:
        """Return the output for an input."""
        raise NotImplementedError


class Linear(Module):
    """Multiplies by a matrix.

    Args:
        in_features (int): size of each input sample
        out_features (int): size of each output sample
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        self.weight = np.full((in_features, out_features), 0.5, "float32")

    def forward(self, x: Tile) -> Tile:
        """Return the products."""
        return Tile(x.array @ self.weight)


class ReLU(Module):
    """Keeps what is positive."""

    def forward(self, x: Tile) -> Tile:
        """Return the larger of each element and 0."""
        return Tile(np.maximum(x.array, 0))


class Flatten(Module):
    """Makes a vector of each sample.

    Args:
        start (int): first of the dimensions that become one
    """

    def __init__(self, start: int = 1) -> None:
        self.start = start

    def forward(self, x: Tile) -> Tile:
        """Return the vectors."""
        return x.flatten(self.start)


class Sequential(Module):
    """Calls one layer after the other."""

    def __init__(self, *layers: Module) -> None:
        self.layers = layers

    def forward(self, x: Tile) -> Tile:
        """Return the output of the last layer."""
        for layer in self.layers:
            x = layer(x)
        return x
