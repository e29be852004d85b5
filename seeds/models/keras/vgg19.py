"""VGG-19: 16 convolutions of 3 by 3 in five blocks, and three dense layers (configuration E).

Simonyan, Zisserman: Very deep convolutional networks for large-scale image recognition, 2014.
"""

import keras
from keras import layers

NAME = "vgg19"
DATA = "images"
INPUT = (224, 224, 3)
CLASSES = 1000
SMALLEST = 32
"""Pixels on a side below width 1: what five poolings need."""
BLOCKS = ((64,) * 2, (128,) * 2, (256,) * 4, (512,) * 4, (512,) * 4)
DENSE = 4096


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels, units and classes."""

    def units(full: int) -> int:
        return max(2, round(full * width))

    inputs = keras.Input(INPUT if width >= 1 else (SMALLEST, SMALLEST, 3))
    x = inputs
    for block in BLOCKS:
        for channels in block:
            x = layers.Conv2D(units(channels), 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(units(DENSE), activation="relu")(x)
    x = layers.Dense(units(DENSE), activation="relu")(x)
    outputs = layers.Dense(units(CLASSES), activation="softmax")(x)
    return keras.Model(inputs, outputs, name="vgg19")
