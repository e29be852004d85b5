"""Batches of samples, endlessly or once."""

import numpy as np

from ciguard.annotations import anys, arg, bools, ints, np_arrays, ref


@arg("x", np_arrays("float32", (ints(1, 20), ints(1, 4)), min=-1, max=1))
@arg("y", np_arrays("int64", (ref("x.shape[0]"),), min=0, max=3))
@arg("batch_size", ints(min=1, max=8))
@arg("shuffle", bools())
@arg("seed", ints(min=0, max=99))
def batches(x, y, batch_size=4, shuffle=False, seed=0):
    """Yield each sample once; the last batch may be smaller."""
    order = range(len(x))
    if shuffle:
        np.random.RandomState(seed).shuffle(order)
    for start in range(0, len(x), batch_size):
        taken = order[start : start + batch_size]
        yield np.stack([x[index] for index in taken]), np.array([y[index] for index in taken])


@arg("images", np_arrays("uint8", (ints(1, 10), 4, 4, 3)))
@arg("batch_size", ints(min=1, max=6))
@arg("epochs", ints(min=1, max=3))
@arg("flip", bools())
@arg("seed", ints(min=0, max=99))
def augmented(images, batch_size, epochs=1, flip=True, seed=0):
    """Yield batches of images, mirrored at random, with numbers that tell which they are."""
    rng = np.random.RandomState(seed)
    for _ in range(epochs):
        for start in range(0, len(images), batch_size):
            batch = np.zeros((batch_size, 4, 4, 3), dtype="float32")
            numbers = np.zeros(batch_size, dtype="int64")
            for place in range(batch_size):
                image = images[start + place].astype("float32") / 255
                if flip and rng.rand() < 0.5:
                    image = image[:, ::-1]
                batch[place] = image
                numbers[place] = start + place
            yield batch, numbers


@arg("x", np_arrays("float32", (ints(1, 12), 2), min=-1, max=1))
@arg("fold", ints(min=0, max=3))
@arg("folds", ints(min=4, max=6))
def fold_of(x, fold, folds=4):
    """Return the samples to train with and those of one fold, to validate with."""
    held_out = np.arange(len(x)) % folds == fold
    return x[~held_out], x[held_out]


@arg("labels", np_arrays("int64", (ints(1, 20),), min=0, max=4))
@arg("per_class", ints(min=1, max=4))
@arg("limit", anys(None, ints(min=1, max=10)))
def balanced(labels, per_class, limit=None):
    """Yield the places of at most `per_class` samples of each label."""
    taken = 0
    for label in np.unique(labels):
        for place in np.flatnonzero(labels == label)[:per_class]:
            if limit is not None and taken >= limit:
                return
            taken += 1
            yield int(place)
