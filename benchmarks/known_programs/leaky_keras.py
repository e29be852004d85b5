"""Classifies vectors with leaky activations: a seed program of level `code` for Keras 2."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SAMPLES = 40
FEATURES = 6
CLASSES = 3

keras.utils.set_random_seed(0)
rng = np.random.RandomState(0)
vectors = rng.rand(SAMPLES, FEATURES).astype("float32")
labels = rng.randint(0, CLASSES, SAMPLES)

model = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        layers.Dense(8),
        layers.LeakyReLU(alpha=0.2),
        layers.Dense(8),
        layers.LeakyReLU(alpha=0.1),
        layers.Dense(CLASSES),
    ]
)
model.compile(
    optimizer="sgd",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    run_eagerly=True,
)
history = model.fit(vectors, labels, batch_size=10, epochs=1, verbose=0)
loss = history.history["loss"][-1]
predictions = model(vectors, training=False)

print(f"loss {loss:.4f}")
