"""One LSTM layer that tells the next closing price of a share.

Hochreiter, Schmidhuber: Long short-term memory, 1997.
"""

import keras
from keras import layers

NAME = "lstm-price"
DATA = "prices"
INPUT = (22, 3)
"""The days of a month; the lowest, the highest and the closing price of each."""


def build(width: float = 1.0) -> keras.Model:
    """Return the model; `width` scales units, and below 1 it sees fewer days."""
    days, prices = INPUT
    return keras.Sequential(
        [
            keras.Input((days if width >= 1 else 8, prices)),
            layers.LSTM(max(1, round(80 * width))),
            layers.Dropout(0.2),
            layers.Dense(1),
        ],
        name="lstm_price",
    )
