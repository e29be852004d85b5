"""MobileNet v1: depthwise separable convolutions.

Howard, Zhu, Chen, Kalenichenko, Wang, Weyand, Andreetto, Adam: MobileNets: Efficient convolutional
neural networks for mobile vision applications, 2017.
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
WIDTH = 4  # 32 in the paper

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
images = rng.rand(SAMPLES, SIZE, SIZE, 3).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)
test_images = rng.rand(TESTS, SIZE, SIZE, 3).astype("float32")
test_labels = rng.randint(0, CLASSES, TESTS)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 3)),
        layers.Conv2D(WIDTH, kernel_size=3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(2 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(4 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(4 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(8 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(8 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(32 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(kernel_size=3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(32 * WIDTH, kernel_size=1, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
        layers.Dense(CLASSES),
    ]
)
loss_function = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.RMSprop(learning_rate=0.001)

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
