"""Images before they enter a network: crops, grey values, padding, normalisation."""

import numpy as np

from ciguard.annotations import anys, arg, bools, dtypes, floats, froms, ints, np_arrays, require

MEAN = np.array([0.485, 0.456, 0.406], dtype="float32")
STD = np.array([0.229, 0.224, 0.225], dtype="float32")


@arg("image", np_arrays("uint8", (ints(1, 24), ints(1, 24), 3)))
@arg("size", ints(min=1, max=24))
@arg("seed", ints(min=0, max=1000))
@require("size <= image.shape[0]")
@require("size <= image.shape[1]")
def random_crop(image, size, seed=0):
    """Cut a square out of an image that is at least as large."""
    rng = np.random.RandomState(seed)
    top = rng.randint(0, image.shape[0] - size + 1)
    left = rng.randint(0, image.shape[1] - size + 1)
    return image[top : top + size, left : left + size]


@arg("image", np_arrays(["uint8", "float32"], (ints(1, 16), ints(1, 16), 3), min=0, max=255))
@arg("per_channel", bools())
def normalise(image, per_channel=True):
    """Scale to 0..1 and subtract the mean of ImageNet, or that of the image."""
    if image.dtype == np.uint8:
        image = image.astype(np.float64) / 255.0
    if per_channel:
        return (image - MEAN) / STD
    return (image - image.mean()) / (image.std() + 1e-6)


@arg(
    "image",
    anys(
        np_arrays("uint8", (ints(1, 16), ints(1, 16))),
        np_arrays("uint8", (ints(1, 16), ints(1, 16), froms([1, 3, 4]))),
    ),
)
@arg("weights", froms([(0.299, 0.587, 0.114), (0.333, 0.333, 0.334)]))
def to_grey(image, weights=(0.299, 0.587, 0.114)):
    """Turn an image with one, three or four channels, or without any, into grey values."""
    if image.ndim == 2:
        return image.astype("float32")
    if image.shape[2] == 1:
        return image[..., 0].astype("float32")
    return np.dot(image[..., :3], np.array(weights, dtype="float32"))


@arg("image", np_arrays("uint8", (ints(1, 20), ints(1, 20), ints(1, 4))))
@arg("height", ints(min=1, max=40))
@arg("width", ints(min=1, max=40))
@arg("value", ints(min=0, max=255))
@require("height >= image.shape[0] and width >= image.shape[1]")
def pad_to(image, height, width, value=0):
    """Centre an image on a larger canvas."""
    vertical = height - image.shape[0]
    horizontal = width - image.shape[1]
    pads = (
        (vertical // 2, vertical - vertical // 2),
        (horizontal // 2, horizontal - horizontal // 2),
        (0, 0),
    )
    return np.pad(image, pads, mode="constant", constant_values=value)


@arg("images", np_arrays("float32", (ints(1, 6), ints(1, 8), ints(1, 8), 3), min=0, max=1))
@arg("strength", floats(min=0, max=1))
@arg("seed", ints(min=0, max=1000))
def jitter(images, strength=0.1, seed=0):
    """Change the brightness of each image by a factor of its own."""
    rng = np.random.RandomState(seed)
    factors = rng.uniform(1 - strength, 1 + strength, len(images))
    return np.clip(images * factors[:, None, None, None], 0, 1)


@arg("labels", np_arrays("int64", (ints(1, 12),), min=0, max=9))
@arg("classes", ints(min=10, max=20))
@arg("dtype", dtypes("float32", "int64", library="numpy"))
def one_hot(labels, classes=10, dtype=np.float32):
    encoded = np.zeros((len(labels), classes), dtype=dtype)
    encoded[np.arange(len(labels)), labels] = 1
    return encoded
