"""AlexNet for small colour images.

Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks,
2012; on one device, as in Krizhevsky: One weird trick for parallelizing convolutional neural
networks, 2014.
"""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 32
CLASSES = 10
WIDTH = 8  # 64 in the paper

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
images = rng.rand(SAMPLES, SIZE, SIZE, 3).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)
test_images = rng.rand(TESTS, SIZE, SIZE, 3).astype("float32")
test_labels = rng.randint(0, CLASSES, TESTS)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 3)),
        layers.Conv2D(WIDTH, kernel_size=11, strides=4, padding="same", activation="relu"),
        layers.MaxPooling2D(pool_size=2, strides=2),
        layers.Conv2D(3 * WIDTH, kernel_size=5, padding="same", activation="relu"),
        layers.MaxPooling2D(pool_size=2, strides=2),
        layers.Conv2D(6 * WIDTH, kernel_size=3, padding="same", activation="relu"),
        layers.Conv2D(4 * WIDTH, kernel_size=3, padding="same", activation="relu"),
        layers.Conv2D(4 * WIDTH, kernel_size=3, padding="same", activation="relu"),
        layers.MaxPooling2D(pool_size=2, strides=2),
        layers.Flatten(),
        layers.Dropout(rate=0.5),
        layers.Dense(64 * WIDTH, activation="relu"),
        layers.Dropout(rate=0.5),
        layers.Dense(64 * WIDTH, activation="relu"),
        layers.Dense(CLASSES),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    run_eagerly=True,
)
history = model.fit(images, labels, batch_size=BATCH, epochs=1, verbose=0)
loss = history.history["loss"][-1]

_, accuracy = model.evaluate(test_images, test_labels, verbose=0)
predictions = model(test_images, training=False)

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
