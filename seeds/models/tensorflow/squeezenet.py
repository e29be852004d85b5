"""SqueezeNet 1.0: fire modules squeeze the channels before they expand them.

Iandola, Han, Moskewicz, Ashraf, Dally, Keutzer: SqueezeNet: AlexNet-level accuracy with 50x fewer
parameters and <0.5MB model size, 2016.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 100
TESTS = 20
BATCH = 50
SIZE = 48  # 224 in the paper
CLASSES = 10
SHRINK = 8  # the paper's channels are divided by it

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
images = rng.rand(SAMPLES, SIZE, SIZE, 3).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)
test_images = rng.rand(TESTS, SIZE, SIZE, 3).astype("float32")
test_labels = rng.randint(0, CLASSES, TESTS)

inputs = keras.Input((SIZE, SIZE, 3))
x = layers.Conv2D(96 // SHRINK, kernel_size=7, strides=2, activation="relu")(inputs)
x = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")(x)

x = layers.Conv2D(16 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(64 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])

x = layers.Conv2D(16 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(64 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])

x = layers.Conv2D(32 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(128 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])
x = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")(x)

x = layers.Conv2D(32 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(128 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])

x = layers.Conv2D(48 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(192 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(192 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])

x = layers.Conv2D(48 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(192 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(192 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])

x = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(256 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(256 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])
x = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")(x)

x = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(x)
expand1x1 = layers.Conv2D(256 // SHRINK, kernel_size=1, activation="relu")(x)
expand3x3 = layers.Conv2D(256 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Concatenate()([expand1x1, expand3x3])

x = layers.Dropout(rate=0.5)(x)
x = layers.Conv2D(CLASSES, kernel_size=1, activation="relu")(x)
outputs = layers.GlobalAveragePooling2D()(x)
model = keras.Model(inputs, outputs)
loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(learning_rate=0.001)

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
