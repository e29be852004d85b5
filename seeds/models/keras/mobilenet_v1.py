"""MobileNet: convolutions cut into one per channel and one across channels.

Howard et al.: MobileNets: efficient convolutional neural networks for mobile vision applications,
2017.
"""

import keras
from keras import layers

Tensor = keras.KerasTensor

NAME = "mobilenet-v1"
DATA = "images"
INPUT = (224, 224, 3)
CLASSES = 1000
SMALLEST = 32
"""Pixels on a side below width 1: it halves them five times."""
BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2))
BLOCKS = (*BLOCKS, (1024, 1))
"""Channels and stride."""


def normalise(x: Tensor) -> Tensor:
    """Normalise, and keep what is between 0 and 6."""
    return layers.ReLU(6.0)(layers.BatchNormalization()(x))


def separable(x: Tensor, channels: int, stride: int) -> Tensor:
    """Convolve every channel by itself, then across channels."""
    if stride > 1:
        x = layers.ZeroPadding2D(((0, 1), (0, 1)))(x)
    padding = "same" if stride == 1 else "valid"
    x = layers.DepthwiseConv2D(3, strides=stride, padding=padding, use_bias=False)(x)
    x = normalise(x)
    return normalise(layers.Conv2D(channels, 1, padding="same", use_bias=False)(x))


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels and classes."""

    def units(full: int) -> int:
        return max(2, round(full * width))

    inputs = keras.Input(INPUT if width >= 1 else (SMALLEST, SMALLEST, 3))
    x = normalise(layers.Conv2D(units(32), 3, strides=2, padding="same", use_bias=False)(inputs))
    for channels, stride in BLOCKS:
        x = separable(x, units(channels), stride)
    x = layers.GlobalAveragePooling2D(keepdims=True)(x)
    x = layers.Dropout(1e-3)(x)
    x = layers.Conv2D(units(CLASSES), 1, padding="same")(x)
    x = layers.Reshape((units(CLASSES),))(x)
    outputs = layers.Activation("softmax")(x)
    return keras.Model(inputs, outputs, name="mobilenet_v1")
