"""LeNet-5 reads handwritten digits.

LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
"""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 28
CLASSES = 10

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
images = rng.rand(SAMPLES, SIZE, SIZE, 1).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)
test_images = rng.rand(TESTS, SIZE, SIZE, 1).astype("float32")
test_labels = rng.randint(0, CLASSES, TESTS)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(6, kernel_size=5, padding="same"),
        layers.Activation("tanh"),
        layers.AveragePooling2D(pool_size=2, strides=2),
        layers.Conv2D(16, kernel_size=5),
        layers.Activation("tanh"),
        layers.AveragePooling2D(pool_size=2, strides=2),
        layers.Flatten(),
        layers.Dense(120),
        layers.Activation("tanh"),
        layers.Dense(84),
        layers.Activation("tanh"),
        layers.Dense(CLASSES),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.05, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    run_eagerly=True,
)
history = model.fit(images, labels, batch_size=BATCH, epochs=1, verbose=0)
loss = history.history["loss"][-1]

_, accuracy = model.evaluate(test_images, test_labels, verbose=0)
predictions = model(test_images, training=False)

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
