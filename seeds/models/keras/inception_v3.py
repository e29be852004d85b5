"""Inception-v3: eleven blocks of parallel convolutions, with kernels cut into rows and columns.

Szegedy, Vanhoucke, Ioffe, Shlens, Wojna: Rethinking the inception architecture for computer
vision, 2015.
"""

import keras
from keras import layers

Tensor = keras.KerasTensor

NAME = "inception-v3"
DATA = "images"
INPUT = (299, 299, 3)
CLASSES = 1000
SMALLEST = 75
"""Pixels on a side below width 1: convolutions without padding need as many."""


class Blocks:
    """The kinds of blocks, with channels scaled by `width`."""

    def __init__(self, width: float) -> None:
        self.width = width

    def units(self, full: int) -> int:
        """Scale a number of channels."""
        return max(2, round(full * self.width))

    def convolution(
        self,
        x: Tensor,
        channels: int,
        size: "int | tuple[int, int]",
        stride: int = 1,
        padding: str = "same",
    ) -> Tensor:
        """Convolve, normalise without scale, and keep what is positive."""
        x = layers.Conv2D(
            self.units(channels), size, strides=stride, padding=padding, use_bias=False
        )(x)
        return layers.Activation("relu")(layers.BatchNormalization(scale=False)(x))

    def chain(self, x: Tensor, *steps: tuple) -> Tensor:
        """Convolve several times: (channels, size) each."""
        for channels, size in steps:
            x = self.convolution(x, channels, size)
        return x

    def pooled(self, x: Tensor, channels: int) -> Tensor:
        """Average, then convolve across channels."""
        x = layers.AveragePooling2D(3, strides=1, padding="same")(x)
        return self.convolution(x, channels, 1)

    def stem(self, x: Tensor) -> Tensor:
        """From pixels to 192 channels at an eighth of the size."""
        x = self.convolution(x, 32, 3, 2, "valid")
        x = self.convolution(x, 32, 3, 1, "valid")
        x = self.convolution(x, 64, 3)
        x = layers.MaxPooling2D(3, strides=2)(x)
        x = self.convolution(x, 80, 1, 1, "valid")
        x = self.convolution(x, 192, 3, 1, "valid")
        return layers.MaxPooling2D(3, strides=2)(x)

    def wide(self, x: Tensor, pool_channels: int) -> Tensor:
        """Kernels of 1, 5 and twice 3."""
        branches = [
            self.convolution(x, 64, 1),
            self.chain(x, (48, 1), (64, 5)),
            self.chain(x, (64, 1), (96, 3), (96, 3)),
            self.pooled(x, pool_channels),
        ]
        return layers.Concatenate()(branches)

    def first_reduction(self, x: Tensor) -> Tensor:
        """Halve the size at 17 by 17."""
        branches = [
            self.convolution(x, 384, 3, 2, "valid"),
            self.convolution(self.chain(x, (64, 1), (96, 3)), 96, 3, 2, "valid"),
            layers.MaxPooling2D(3, strides=2)(x),
        ]
        return layers.Concatenate()(branches)

    def factorised(self, x: Tensor, inner: int) -> Tensor:
        """Kernels of 7 cut into rows and columns."""
        row, column = (1, 7), (7, 1)
        twice = ((inner, column), (inner, row), (inner, column), (192, row))
        branches = [
            self.convolution(x, 192, 1),
            self.chain(x, (inner, 1), (inner, row), (192, column)),
            self.chain(x, (inner, 1), *twice),
            self.pooled(x, 192),
        ]
        return layers.Concatenate()(branches)

    def second_reduction(self, x: Tensor) -> Tensor:
        """Halve the size at 8 by 8."""
        factorised = self.chain(x, (192, 1), (192, (1, 7)), (192, (7, 1)))
        branches = [
            self.convolution(self.convolution(x, 192, 1), 320, 3, 2, "valid"),
            self.convolution(factorised, 192, 3, 2, "valid"),
            layers.MaxPooling2D(3, strides=2)(x),
        ]
        return layers.Concatenate()(branches)

    def split(self, x: Tensor) -> Tensor:
        """Read as a row and as a column, side by side."""
        branches = [self.convolution(x, 384, (1, 3)), self.convolution(x, 384, (3, 1))]
        return layers.Concatenate()(branches)

    def expanded(self, x: Tensor) -> Tensor:
        """Branches that end in two."""
        branches = [
            self.convolution(x, 320, 1),
            self.split(self.convolution(x, 384, 1)),
            self.split(self.chain(x, (448, 1), (384, 3))),
            self.pooled(x, 192),
        ]
        return layers.Concatenate()(branches)


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels and classes."""
    blocks = Blocks(width)
    inputs = keras.Input(INPUT if width >= 1 else (SMALLEST, SMALLEST, 3))
    x = blocks.stem(inputs)
    for pool_channels in (32, 64, 64):
        x = blocks.wide(x, pool_channels)
    x = blocks.first_reduction(x)
    for inner in (128, 160, 160, 192):
        x = blocks.factorised(x, inner)
    x = blocks.second_reduction(x)
    x = blocks.expanded(blocks.expanded(x))
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(blocks.units(CLASSES), activation="softmax")(x)
    return keras.Model(inputs, outputs, name="inception_v3")
