"""LeNet-5 for pictures of clothes: smaller kernels, more channels, largest values pooled.

LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
"""

import keras
from keras import layers

NAME = "lenet5-fashion-mnist"
DATA = "digits"
INPUT = (28, 28, 1)
CLASSES = 10


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales channels and units."""

    def units(full: int) -> int:
        return max(1, round(full * width))

    return keras.Sequential(
        [
            keras.Input(INPUT),
            layers.Conv2D(units(32), 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(units(64), 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(units(120), activation="relu"),
            layers.Dropout(0.25),
            layers.Dense(units(84), activation="relu"),
            layers.Dense(CLASSES, activation="softmax"),
        ],
        name="lenet5_fashion_mnist",
    )
