"""GoogLeNet: nine inception modules, each with four branches side by side.

Szegedy, Liu, Jia, Sermanet, Reed, Anguelov, Erhan, Vanhoucke, Rabinovich: Going deeper with
convolutions, 2015; without the auxiliary classifiers.
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
SHRINK = 8  # the paper's channels are divided by it
NORMALISED = {"depth_radius": 2, "alpha": 0.0001 / 5, "beta": 0.75}

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
images = rng.rand(SAMPLES, SIZE, SIZE, 3).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)
test_images = rng.rand(TESTS, SIZE, SIZE, 3).astype("float32")
test_labels = rng.randint(0, CLASSES, TESTS)

inputs = keras.Input((SIZE, SIZE, 3))
x = layers.Conv2D(64 // SHRINK, kernel_size=7, strides=2, padding="same", activation="relu")(inputs)
x = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")(x)
x = layers.Lambda(tf.nn.local_response_normalization, arguments=NORMALISED)(x)
x = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(x)
x = layers.Conv2D(192 // SHRINK, kernel_size=3, padding="same", activation="relu")(x)
x = layers.Lambda(tf.nn.local_response_normalization, arguments=NORMALISED)(x)
x = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")(x)

branch1 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(96 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(128 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(16 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(32 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(32 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])

branch1 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(192 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(32 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(96 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])
x = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")(x)

branch1 = layers.Conv2D(192 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(96 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(208 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(16 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(48 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])

branch1 = layers.Conv2D(160 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(112 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(224 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(24 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(64 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])

branch1 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(256 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(24 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(64 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])

branch1 = layers.Conv2D(112 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(144 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(288 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(32 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(64 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(64 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])

branch1 = layers.Conv2D(256 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(160 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(320 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(32 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(128 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])
x = layers.MaxPooling2D(pool_size=3, strides=2, padding="same")(x)

branch1 = layers.Conv2D(256 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(160 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(320 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(32 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(128 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])

branch1 = layers.Conv2D(384 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(192 // SHRINK, kernel_size=1, activation="relu")(x)
branch2 = layers.Conv2D(384 // SHRINK, kernel_size=3, padding="same", activation="relu")(branch2)
branch3 = layers.Conv2D(48 // SHRINK, kernel_size=1, activation="relu")(x)
branch3 = layers.Conv2D(128 // SHRINK, kernel_size=5, padding="same", activation="relu")(branch3)
branch4 = layers.MaxPooling2D(pool_size=3, strides=1, padding="same")(x)
branch4 = layers.Conv2D(128 // SHRINK, kernel_size=1, activation="relu")(branch4)
x = layers.Concatenate()([branch1, branch2, branch3, branch4])

x = layers.GlobalAveragePooling2D()(x)
x = layers.Dropout(rate=0.4)(x)
outputs = layers.Dense(CLASSES)(x)
model = keras.Model(inputs, outputs)
loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)

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
