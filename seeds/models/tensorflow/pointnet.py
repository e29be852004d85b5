"""PointNet takes the days before as a cloud of points and tells the next closing price.

Qi, Su, Mo, Guibas: PointNet: Deep learning on point sets for 3D classification and segmentation,
2017. Here a point is a day: the lowest, the highest and the closing price of a share.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 100
TESTS = 20
BATCH = 50
DAYS = 22
PRICES = 3
WIDTH = 8  # 64 in the paper

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
closing = 1 + 0.01 * rng.randn(SAMPLES + TESTS + DAYS).cumsum()
spread = 0.01 * rng.rand(2, closing.size)
days = np.stack([closing - spread[0], closing + spread[1], closing], axis=1).astype("float32")
months = np.stack([days[first : first + DAYS] for first in range(SAMPLES + TESTS)])
following = days[DAYS:, 2:]
clouds, test_clouds = months[:SAMPLES], months[SAMPLES:]
prices, test_prices = following[:SAMPLES], following[SAMPLES:]


class Transform(layers.Layer):
    """Predicts a matrix for each cloud, close to the identity at first, and applies it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.identity = tf.eye(channels)
        self.predict = keras.Sequential(
            [
                layers.Conv1D(WIDTH, kernel_size=1),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Conv1D(2 * WIDTH, kernel_size=1),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Conv1D(16 * WIDTH, kernel_size=1),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.GlobalMaxPooling1D(),
                layers.Dense(8 * WIDTH),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Dense(4 * WIDTH),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Dense(channels * channels),
                layers.Reshape((channels, channels)),
            ]
        )

    def call(self, x: tf.Tensor, *, training: bool = False) -> tf.Tensor:
        """Return points of the same shape."""
        return tf.matmul(x, self.predict(x, training=training) + self.identity)


class PointNet(keras.Model):
    """Layers that see one point at a time, a maximum over all points, dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.transform1 = Transform(PRICES)
        self.conv1 = layers.Conv1D(WIDTH, kernel_size=1)
        self.bn1 = layers.BatchNormalization()
        self.conv2 = layers.Conv1D(WIDTH, kernel_size=1)
        self.bn2 = layers.BatchNormalization()
        self.transform2 = Transform(WIDTH)
        self.conv3 = layers.Conv1D(WIDTH, kernel_size=1)
        self.bn3 = layers.BatchNormalization()
        self.conv4 = layers.Conv1D(2 * WIDTH, kernel_size=1)
        self.bn4 = layers.BatchNormalization()
        self.conv5 = layers.Conv1D(16 * WIDTH, kernel_size=1)
        self.bn5 = layers.BatchNormalization()
        self.maximum = layers.GlobalMaxPooling1D()
        self.fc1 = layers.Dense(8 * WIDTH)
        self.bn6 = layers.BatchNormalization()
        self.fc2 = layers.Dense(4 * WIDTH)
        self.dropout = layers.Dropout(rate=0.3)
        self.bn7 = layers.BatchNormalization()
        self.fc3 = layers.Dense(1)

    def call(self, x: tf.Tensor, *, training: bool = False) -> tf.Tensor:
        """Return the price that follows each cloud."""
        x = self.transform1(x, training=training)
        x = tf.nn.relu(self.bn1(self.conv1(x), training=training))
        x = tf.nn.relu(self.bn2(self.conv2(x), training=training))
        x = self.transform2(x, training=training)
        x = tf.nn.relu(self.bn3(self.conv3(x), training=training))
        x = tf.nn.relu(self.bn4(self.conv4(x), training=training))
        x = tf.nn.relu(self.bn5(self.conv5(x), training=training))
        x = self.maximum(x)
        x = tf.nn.relu(self.bn6(self.fc1(x), training=training))
        x = self.dropout(self.fc2(x), training=training)
        x = tf.nn.relu(self.bn7(x, training=training))
        return self.fc3(x)


model = PointNet()
loss_function = keras.losses.MeanSquaredError()
optimizer = keras.optimizers.Adam(learning_rate=0.001)

for start in range(0, SAMPLES, BATCH):
    with tf.GradientTape() as tape:
        answers = model(clouds[start : start + BATCH], training=True)
        step_loss = loss_function(prices[start : start + BATCH], answers)
    gradients = tape.gradient(step_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
loss = float(step_loss)

predictions = model(test_clouds, training=False)
error = float(tf.reduce_mean(tf.abs(predictions - test_prices)))

print(f"loss {loss:.4f}, mean absolute error {error:.4f}")
