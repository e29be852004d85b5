"""Two stacked LSTM layers that continue a sine wave.

Hochreiter, Schmidhuber: Long short-term memory, 1997.
"""

import keras
from keras import layers

NAME = "lstm-sine"
DATA = "sine"
INPUT = (50, 1)


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales units, and below 1 the wave has fewer steps."""

    def units(full: int) -> int:
        return max(1, round(full * width))

    steps, features = INPUT
    return keras.Sequential(
        [
            keras.Input((steps if width >= 1 else 10, features)),
            layers.LSTM(units(50), return_sequences=True),
            layers.Dropout(0.2),
            layers.LSTM(units(100)),
            layers.Dropout(0.2),
            layers.Dense(features),
        ],
        name="lstm_sine",
    )
