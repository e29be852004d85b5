"""VGG19: sixteen small convolutions and three dense layers, one after the other.

Simonyan, Zisserman: Very deep convolutional networks for large-scale image recognition, 2014.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 32  # 224 in the paper
CLASSES = 10
WIDTH = 8  # 64 in the paper

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
images = rng.rand(SAMPLES, SIZE, SIZE, 3).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)
test_images = rng.rand(TESTS, SIZE, SIZE, 3).astype("float32")
test_labels = rng.randint(0, CLASSES, TESTS)

inputs = keras.Input((SIZE, SIZE, 3))
x = layers.Conv2D(WIDTH, kernel_size=3, padding="same", activation="relu")(inputs)
x = layers.Conv2D(WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.MaxPooling2D(pool_size=2, strides=2)(x)
x = layers.Conv2D(2 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(2 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.MaxPooling2D(pool_size=2, strides=2)(x)
x = layers.Conv2D(4 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(4 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(4 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(4 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.MaxPooling2D(pool_size=2, strides=2)(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.MaxPooling2D(pool_size=2, strides=2)(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Conv2D(8 * WIDTH, kernel_size=3, padding="same", activation="relu")(x)
x = layers.MaxPooling2D(pool_size=2, strides=2)(x)
x = layers.Flatten()(x)
x = layers.Dense(64 * WIDTH, activation="relu")(x)
x = layers.Dropout(rate=0.5)(x)
x = layers.Dense(64 * WIDTH, activation="relu")(x)
x = layers.Dropout(rate=0.5)(x)
outputs = layers.Dense(CLASSES)(x)
model = keras.Model(inputs, outputs)
loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)

dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(SAMPLES).batch(BATCH)
for batch, truth in dataset:
    with tf.GradientTape() as tape:
        step_loss = loss_function(truth, model(batch, training=True))
    gradients = tape.gradient(step_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
loss = float(step_loss)

predictions = model(test_images, training=False)
accuracy = float(np.mean(np.argmax(predictions, axis=1) == test_labels))

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
