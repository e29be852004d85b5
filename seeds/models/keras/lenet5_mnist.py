"""LeNet-5 for handwritten digits, with every activation as a layer of its own.

LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
The first convolution pads 28 by 28 pixels to what 32 by 32 gave there.
"""

import keras
from keras import layers

NAME = "lenet5-mnist"
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
            layers.Conv2D(units(6), 5, padding="same"),
            layers.Activation("tanh"),
            layers.AveragePooling2D(2),
            layers.Conv2D(units(16), 5),
            layers.Activation("tanh"),
            layers.AveragePooling2D(2),
            layers.Flatten(),
            layers.Dense(units(120)),
            layers.Activation("tanh"),
            layers.Dense(units(84)),
            layers.Activation("tanh"),
            layers.Dense(CLASSES),
            layers.Softmax(),
        ],
        name="lenet5_mnist",
    )
