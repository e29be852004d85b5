"""ResNet18: each pair of convolutions learns what to add to its input.

He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 100
TESTS = 20
BATCH = 50
SIZE = 32  # 224 in the paper
CLASSES = 10
WIDTH = 8  # 64 in the paper

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
images = rng.rand(SAMPLES, SIZE, SIZE, 3).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)
test_images = rng.rand(TESTS, SIZE, SIZE, 3).astype("float32")
test_labels = rng.randint(0, CLASSES, TESTS)


class ResidualBlock(layers.Layer):
    """Two convolutions whose result is added to their input."""

    def __init__(self, filters: int, strides: int = 1) -> None:
        super().__init__()
        self.conv1 = layers.Conv2D(
            filters, kernel_size=3, strides=strides, padding="same", use_bias=False
        )
        self.bn1 = layers.BatchNormalization()
        self.conv2 = layers.Conv2D(filters, kernel_size=3, padding="same", use_bias=False)
        self.bn2 = layers.BatchNormalization()
        self.shortcut = None
        if strides > 1:
            self.shortcut = keras.Sequential(
                [
                    layers.Conv2D(filters, kernel_size=1, strides=strides, use_bias=False),
                    layers.BatchNormalization(),
                ]
            )

    def call(self, x: tf.Tensor, *, training: bool = False) -> tf.Tensor:
        """Return an image with `filters` channels."""
        identity = x if self.shortcut is None else self.shortcut(x, training=training)
        x = tf.nn.relu(self.bn1(self.conv1(x), training=training))
        x = self.bn2(self.conv2(x), training=training)
        return tf.nn.relu(x + identity)


class ResNet18(keras.Model):
    """Eight residual blocks in four stages; the last three halve the size at their beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = layers.Conv2D(WIDTH, kernel_size=7, strides=2, padding="same", use_bias=False)
        self.bn1 = layers.BatchNormalization()
        self.maxpool = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")
        self.block1 = ResidualBlock(WIDTH)
        self.block2 = ResidualBlock(WIDTH)
        self.block3 = ResidualBlock(2 * WIDTH, strides=2)
        self.block4 = ResidualBlock(2 * WIDTH)
        self.block5 = ResidualBlock(4 * WIDTH, strides=2)
        self.block6 = ResidualBlock(4 * WIDTH)
        self.block7 = ResidualBlock(8 * WIDTH, strides=2)
        self.block8 = ResidualBlock(8 * WIDTH)
        self.avgpool = layers.GlobalAveragePooling2D()
        self.fc = layers.Dense(CLASSES)

    def call(self, x: tf.Tensor, *, training: bool = False) -> tf.Tensor:
        """Return a score for each class."""
        x = self.conv1(x)
        x = self.bn1(x, training=training)
        x = tf.nn.relu(x)
        x = self.maxpool(x)
        x = self.block1(x, training=training)
        x = self.block2(x, training=training)
        x = self.block3(x, training=training)
        x = self.block4(x, training=training)
        x = self.block5(x, training=training)
        x = self.block6(x, training=training)
        x = self.block7(x, training=training)
        x = self.block8(x, training=training)
        x = self.avgpool(x)
        return self.fc(x)


model = ResNet18()
loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(learning_rate=0.05, momentum=0.9)

for start in range(0, SAMPLES, BATCH):
    with tf.GradientTape() as tape:
        scores = model(images[start : start + BATCH], training=True)
        step_loss = loss_function(labels[start : start + BATCH], scores)
    gradients = tape.gradient(step_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
loss = float(step_loss)

predictions = model(test_images, training=False)
accuracy = float(np.mean(np.argmax(predictions, axis=1) == test_labels))

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
