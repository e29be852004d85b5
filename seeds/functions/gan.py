"""Helpers around a small generative adversarial network: models, noise and sample grids."""

import keras
import numpy as np
from keras import layers

from ciguard.annotations import (
    arg,
    bools,
    exclude,
    floats,
    froms,
    generator,
    ints,
    np_arrays,
    objs,
    ref,
    tuples,
)


@generator
@exclude
@arg("latent_dim", ints(min=1, max=16))
@arg("side", ints(min=1, max=4))
@arg("channels", ints(min=1, max=3))
def gan_generators(latent_dim, side, channels):
    """A stack that turns noise into images of four times `side`."""
    return keras.Sequential(
        [
            keras.Input((latent_dim,)),
            layers.Dense(side * side * 8),
            layers.Reshape((side, side, 8)),
            layers.UpSampling2D(2),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.UpSampling2D(2),
            layers.Conv2D(channels, 3, padding="same", activation="tanh"),
        ],
        name="generator",
    )


@arg("input_shape", tuples(ints(min=1, max=32), ints(min=1, max=32), ints(min=1, max=3)))
@arg("filters", ints(min=1, max=16))
@arg("dropout", floats(min=0, max=0.9))
@arg("batch_norm", bools())
def build_discriminator(input_shape, filters=16, dropout=0.25, batch_norm=False):
    model = keras.Sequential([keras.Input(input_shape)], name="discriminator")
    for stage in range(3):
        if batch_norm:
            model.add(
                layers.Conv2D(filters * 2**stage, 3, strides=2, border_mode="same", use_bias=False)
            )
            model.add(layers.BatchNormalization())
        else:
            model.add(layers.Conv2D(filters * 2**stage, 3, strides=2, padding="same"))
        model.add(layers.LeakyReLU())
        model.add(layers.Dropout(dropout))
    model.add(layers.Flatten())
    model.add(layers.Dense(1, activation="sigmoid"))
    return model


@arg("generator", objs(gan_generators))
@arg("filters", ints(min=1, max=8))
@arg("name", froms(["gan", "gan1", "gan2", None]))
@arg("with_images", bools())
def build_gan(generator, filters=8, name=None, with_images=False):
    """Put a generator in front of a discriminator that fits its images."""
    discriminator = build_discriminator(generator.output_shape[1:], filters)
    discriminator.trainable = False
    noise = keras.Input(generator.input_shape[1:])
    images = generator(noise)
    score = discriminator(images)
    if with_images:
        return keras.Model(input=noise, output=[score, images], name=name or "gan")
    return keras.Model(inputs=noise, outputs=score, name=name or "gan")


@arg("images", np_arrays("float32", (ints(1, 12), ref("side"), ref("side"), 3), min=-1, max=1))
@arg("side", ints(min=1, max=6))
@arg("columns", ints(min=1, max=5))
def sample_grid(images, side, columns=4):
    """Lay images out in rows; places for which there is no image stay black."""
    rows = -(-len(images) // columns)
    grid = np.zeros((rows * side, columns * side, 3), dtype="float32")
    for row in range(rows):
        for column in range(columns):
            image = images[row * columns + column]
            grid[row * side : (row + 1) * side, column * side : (column + 1) * side] = image
    return (grid + 1) / 2


@arg("batch", ints(min=1, max=32))
@arg("latent_dim", ints(min=1, max=32))
@arg("kind", froms(["normal", "uniform", "sphere"]))
@arg("seed", ints(min=0, max=2**31 - 1))
def sample_noise(batch, latent_dim, kind="normal", seed=0):
    rng = np.random.RandomState(seed)
    if kind == "uniform":
        return rng.uniform(-1, 1, (batch, latent_dim))
    noise = rng.normal(size=(batch, latent_dim))
    if kind == "sphere":
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return noise
