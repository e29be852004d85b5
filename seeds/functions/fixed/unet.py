"""U-Net, which labels each pixel of an image.

Ronneberger, Fischer, Brox: U-Net: convolutional networks for biomedical image segmentation, 2015.
"""

import keras
from keras import layers

from ciguard.annotations import arg, bools, exclude, floats, froms, ints


@exclude
def conv_block(x, filters, dropout=0.0, batch_norm=True):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", kernel_initializer="he_normal")(x)
        if batch_norm:
            x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
    if dropout > 0:
        x = layers.Dropout(dropout)(x)
    return x


@arg("height", ints(min=8, max=40))
@arg("width", ints(min=8, max=40))
@arg("channels", ints(min=1, max=4))
@arg("classes", ints(min=1, max=6))
@arg("depth", ints(min=1, max=3))
@arg("filters", ints(min=1, max=8))
@arg("dropout", floats(min=0, max=0.8))
@arg("batch_norm", bools())
@arg("upsampling", froms(["transpose", "nearest"]))
def build_unet(
    height,
    width,
    channels=1,
    classes=1,
    depth=2,
    filters=16,
    dropout=0.0,
    batch_norm=True,
    upsampling="nearest",
):
    """Build a U-Net for images of any size; they are padded inside, and labels cropped again."""
    inputs = keras.Input((height, width, channels))
    multiple = 2**depth
    below, right = -height % multiple, -width % multiple
    x = layers.ZeroPadding2D(((0, below), (0, right)))(inputs)

    skips = []
    for level in range(depth):
        x = conv_block(x, filters * 2**level, dropout, batch_norm)
        skips.append(x)
        x = layers.MaxPooling2D(2)(x)
    x = conv_block(x, filters * 2**depth, dropout, batch_norm)
    for level in reversed(range(depth)):
        if upsampling == "transpose":
            x = layers.Conv2DTranspose(filters * 2**level, 2, strides=2)(x)
        else:
            x = layers.UpSampling2D(2)(x)
        x = layers.Concatenate()([skips[level], x])
        x = conv_block(x, filters * 2**level, dropout, batch_norm)

    x = layers.Cropping2D(((0, below), (0, right)))(x)
    activation = "sigmoid" if classes == 1 else "softmax"
    outputs = layers.Conv2D(classes, 1, activation=activation)(x)
    return keras.Model(inputs, outputs, name="unet")
