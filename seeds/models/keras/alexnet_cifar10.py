"""AlexNet for small pictures: one of its two towers, with batch normalisation for local response.

Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks,
2012. Kernels, strides and dense layers are cut to what 32 by 32 pixels can feed.
"""

import keras
from keras import layers

NAME = "alexnet-cifar10"
DATA = "images"
INPUT = (32, 32, 3)
CLASSES = 10


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels and units."""

    def units(full: int) -> int:
        return max(1, round(full * width))

    return keras.Sequential(
        [
            keras.Input(INPUT),
            layers.Conv2D(units(48), 5, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(3, strides=2, padding="same"),
            layers.Conv2D(units(128), 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(3, strides=2, padding="same"),
            layers.Conv2D(units(192), 3, padding="same", activation="relu"),
            layers.Conv2D(units(192), 3, padding="same", activation="relu"),
            layers.Conv2D(units(128), 3, padding="same", activation="relu"),
            layers.MaxPooling2D(3, strides=2, padding="same"),
            layers.Flatten(),
            layers.Dense(units(192), activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(units(96), activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(CLASSES, activation="softmax"),
        ],
        name="alexnet_cifar10",
    )
