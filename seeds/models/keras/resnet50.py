"""ResNet-50: sixteen bottleneck blocks, each added to what goes into it.

He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2015.
"""

import keras
from keras import layers

Tensor = keras.KerasTensor

NAME = "resnet50"
DATA = "images"
INPUT = (224, 224, 3)
CLASSES = 1000
SMALLEST = 32
"""Pixels on a side below width 1: it halves them five times."""
STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Channels inside the bottleneck, and blocks."""


def convolution(x: Tensor, channels: int, size: int, stride: int = 1) -> Tensor:
    """Convolve and normalise."""
    x = layers.Conv2D(channels, size, strides=stride, padding="same")(x)
    return layers.BatchNormalization(epsilon=1.001e-5)(x)


def bottleneck(x: Tensor, channels: int, stride: int, *, project: bool) -> Tensor:
    """Narrow, convolve, widen to four times the channels, and add the input, projected or as is."""
    shortcut = convolution(x, 4 * channels, 1, stride) if project else x
    x = layers.Activation("relu")(convolution(x, channels, 1, stride))
    x = layers.Activation("relu")(convolution(x, channels, 3))
    x = layers.Add()([shortcut, convolution(x, 4 * channels, 1)])
    return layers.Activation("relu")(x)


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels and classes."""

    def units(full: int) -> int:
        return max(2, round(full * width))

    inputs = keras.Input(INPUT if width >= 1 else (SMALLEST, SMALLEST, 3))
    x = layers.Activation("relu")(convolution(inputs, units(64), 7, 2))
    x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    for stage, (channels, blocks) in enumerate(STAGES):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            x = bottleneck(x, units(channels), stride, project=not block)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(units(CLASSES), activation="softmax")(x)
    return keras.Model(inputs, outputs, name="resnet50")
