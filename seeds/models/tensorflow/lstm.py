"""Two stacked LSTM layers tell the next closing price of a share.

Hochreiter, Schmidhuber: Long short-term memory, 1997.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 100
TESTS = 20
BATCH = 25
DAYS = 10
UNITS = 16

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
closing = (1 + 0.01 * rng.randn(SAMPLES + TESTS + DAYS).cumsum()).astype("float32")
windows = np.stack([closing[first : first + DAYS] for first in range(SAMPLES + TESTS)])
following = closing[DAYS:]
series = windows[:SAMPLES, :, np.newaxis]
prices = following[:SAMPLES, np.newaxis]
test_series = windows[SAMPLES:, :, np.newaxis]
test_prices = following[SAMPLES:, np.newaxis]


class Forecast(keras.Model):
    """Reads a series day by day and answers after the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm1 = layers.LSTM(UNITS, return_sequences=True)
        self.dropout1 = layers.Dropout(rate=0.2)
        self.lstm2 = layers.LSTM(UNITS)
        self.dropout2 = layers.Dropout(rate=0.2)
        self.fc = layers.Dense(1)

    def call(self, x: tf.Tensor, *, training: bool = False) -> tf.Tensor:
        """Return the price that follows each series."""
        x = self.lstm1(x)
        x = self.dropout1(x, training=training)
        x = self.lstm2(x)
        x = self.dropout2(x, training=training)
        return self.fc(x)


model = Forecast()
loss_function = keras.losses.MeanSquaredError()
optimizer = keras.optimizers.Adam(learning_rate=0.01)

for start in range(0, SAMPLES, BATCH):
    with tf.GradientTape() as tape:
        answers = model(series[start : start + BATCH], training=True)
        step_loss = loss_function(prices[start : start + BATCH], answers)
    gradients = tape.gradient(step_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
loss = float(step_loss)

predictions = model(test_series, training=False)
error = float(tf.reduce_mean(tf.abs(predictions - test_prices)))

print(f"loss {loss:.4f}, mean absolute error {error:.4f}")
