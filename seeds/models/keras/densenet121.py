"""DenseNet-121: each layer reads what all before it in its block have computed.

Huang, Liu, van der Maaten, Weinberger: Densely connected convolutional networks, 2016.
"""

import keras
from keras import layers

Tensor = keras.KerasTensor

NAME = "densenet121"
DATA = "images"
INPUT = (224, 224, 3)
CLASSES = 1000
SMALLEST = 32
"""Pixels on a side below width 1: it halves them five times."""
BLOCKS = (6, 12, 24, 16)
GROWTH = 32


def activate(x: Tensor) -> Tensor:
    """Normalise, and keep what is positive."""
    return layers.Activation("relu")(layers.BatchNormalization(epsilon=1.001e-5)(x))


def convolution(x: Tensor, channels: int, size: int, stride: int = 1) -> Tensor:
    """Convolve without bias."""
    return layers.Conv2D(channels, size, strides=stride, padding="same", use_bias=False)(x)


def dense_block(x: Tensor, count: int, growth: int) -> Tensor:
    """Append `count` times what is computed of all so far."""
    for _ in range(count):
        new = convolution(activate(x), 4 * growth, 1)
        x = layers.Concatenate()([x, convolution(activate(new), growth, 3)])
    return x


def transition(x: Tensor) -> Tensor:
    """Halve the channels and the size."""
    return layers.AveragePooling2D(2)(convolution(activate(x), x.shape[-1] // 2, 1))


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels and classes."""

    def units(full: int) -> int:
        return max(2, round(full * width))

    inputs = keras.Input(INPUT if width >= 1 else (SMALLEST, SMALLEST, 3))
    x = activate(convolution(inputs, units(64), 7, 2))
    x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    for block, count in enumerate(BLOCKS):
        x = dense_block(transition(x) if block else x, count, units(GROWTH))
    x = layers.GlobalAveragePooling2D()(activate(x))
    outputs = layers.Dense(units(CLASSES), activation="softmax")(x)
    return keras.Model(inputs, outputs, name="densenet121")
