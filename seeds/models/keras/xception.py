"""Xception: separable convolutions in an entry, a middle and an exit flow, with residuals.

Chollet: Xception: deep learning with depthwise separable convolutions, 2016.
"""

import keras
from keras import layers

Tensor = keras.KerasTensor

NAME = "xception"
DATA = "images"
INPUT = (299, 299, 3)
CLASSES = 1000
SMALLEST = 71
"""Pixels on a side below width 1."""
ENTRY = (128, 256, 728)
MIDDLE = 8


def convolution(
    x: Tensor, channels: int, size: int, stride: int = 1, padding: str = "valid"
) -> Tensor:
    """Convolve and normalise."""
    x = layers.Conv2D(channels, size, strides=stride, padding=padding, use_bias=False)(x)
    return layers.BatchNormalization()(x)


def separable(x: Tensor, channels: int) -> Tensor:
    """Convolve every channel by itself, then across channels; normalise."""
    x = layers.SeparableConv2D(channels, 3, padding="same", use_bias=False)(x)
    return layers.BatchNormalization()(x)


def shrink(x: Tensor, before: int, channels: int, *, activate_first: bool = True) -> Tensor:
    """Two separable convolutions and a pooling, added to a projection of the input."""
    residual = convolution(x, channels, 1, 2, "same")
    if activate_first:
        x = layers.Activation("relu")(x)
    x = layers.Activation("relu")(separable(x, before))
    x = layers.MaxPooling2D(3, strides=2, padding="same")(separable(x, channels))
    return layers.Add()([x, residual])


def keep(x: Tensor, channels: int) -> Tensor:
    """Three separable convolutions, added to the input."""
    residual = x
    for _ in range(3):
        x = separable(layers.Activation("relu")(x), channels)
    return layers.Add()([x, residual])


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels and classes."""

    def units(full: int) -> int:
        return max(2, round(full * width))

    inputs = keras.Input(INPUT if width >= 1 else (SMALLEST, SMALLEST, 3))
    x = layers.Activation("relu")(convolution(inputs, units(32), 3, 2))
    x = layers.Activation("relu")(convolution(x, units(64), 3))
    for block, channels in enumerate(ENTRY):
        x = shrink(x, units(channels), units(channels), activate_first=block > 0)
    for _ in range(MIDDLE):
        x = keep(x, units(ENTRY[-1]))
    x = shrink(x, units(ENTRY[-1]), units(1024))
    for channels in (1536, 2048):
        x = layers.Activation("relu")(separable(x, units(channels)))
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(units(CLASSES), activation="softmax")(x)
    return keras.Model(inputs, outputs, name="xception")
