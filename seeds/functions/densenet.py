"""DenseNet, a network whose layers see the outputs of all layers before them.

Huang, Liu, van der Maaten, Weinberger: Densely connected convolutional networks, 2017.
"""

import keras
from keras import layers
from keras.regularizers import L2

from ciguard.annotations import anys, arg, bools, exclude, floats, int_lists, ints, require, tuples


@arg("input_shape", tuples(ints(min=20, max=70), ints(min=20, max=70), ints(min=1, max=3)))
@arg("dense_blocks", ints(min=2, max=5))
@arg("dense_layers", anys(-1, ints(min=1, max=5), int_lists(min_len=2, max_len=5, min=2, max=5)))
@arg("growth_rate", ints(min=1, max=20))
@arg("nb_classes", ints(min=2, max=22))
@arg("dropout_rate", floats(min=0, max=1, exclude_min=True, exclude_max=True))
@arg("bottleneck", bools())
@arg("compression", floats(min=0, max=1, exclude_min=True))
@arg("weight_decay", floats(min=1e-4, max=1e-2))
@arg("depth", ints(min=10, max=100))
@require("type(dense_layers) is not list or len(dense_layers) == dense_blocks")
def DenseNet(
    input_shape=None,
    dense_blocks=3,
    dense_layers=-1,
    growth_rate=12,
    nb_classes=None,
    dropout_rate=None,
    bottleneck=False,
    compression=1.0,
    weight_decay=1e-4,
    depth=40,
):
    if nb_classes == None:
        raise Exception("Please define number of classes")
    if compression <= 0.0 or compression > 1.0:
        raise Exception("Compression must be between 0.0 and 1.0.")
    if type(dense_layers) is list:
        if len(dense_layers) != dense_blocks:
            raise AssertionError("Dense blocks must be the same as layers")
    elif dense_layers == -1:
        dense_layers = (depth - 4) / 3
        if bottleneck:
            dense_layers = dense_layers / 2
        dense_layers = [dense_layers for _ in range(dense_blocks)]
    else:
        dense_layers = [dense_layers for _ in range(dense_blocks)]

    img_input = layers.Input(shape=input_shape)
    nb_channels = growth_rate * 2

    x = layers.Conv2D(
        nb_channels,
        (3, 3),
        padding="same",
        use_bias=False,
        kernel_regularizer=L2(weight_decay),
    )(img_input)
    for block in range(dense_blocks):
        x, nb_channels = dense_block(
            x, dense_layers[block], nb_channels, growth_rate, dropout_rate, bottleneck, weight_decay
        )
        if block < dense_blocks - 1:
            x = transition_layer(x, nb_channels, dropout_rate, compression, weight_decay)
            nb_channels = max(1, int(nb_channels * compression))

    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    x = layers.GlobalAveragePooling2D()(x)
    prediction = layers.Dense(nb_classes, activation="softmax")(x)
    return keras.Model(inputs=img_input, outputs=prediction, name="densenet")


@exclude
def dense_block(
    x, nb_layers, nb_channels, growth_rate, dropout_rate=None, bottleneck=False, weight_decay=1e-4
):
    for _ in range(nb_layers):
        branch = x
        if bottleneck:
            branch = convolution_block(branch, growth_rate * 4, 1, dropout_rate, weight_decay)
        branch = convolution_block(branch, growth_rate, 3, dropout_rate, weight_decay)
        x = layers.Concatenate()([x, branch])
        nb_channels += growth_rate
    return x, nb_channels


@exclude
def convolution_block(x, nb_channels, size, dropout_rate=None, weight_decay=1e-4):
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    x = layers.Conv2D(
        nb_channels,
        (size, size),
        padding="same",
        use_bias=False,
        kernel_regularizer=L2(weight_decay),
    )(x)
    if dropout_rate:
        x = layers.Dropout(dropout_rate)(x)
    return x


@exclude
def transition_layer(x, nb_channels, dropout_rate=None, compression=1.0, weight_decay=1e-4):
    x = convolution_block(x, max(1, int(nb_channels * compression)), 1, dropout_rate, weight_decay)
    return layers.AveragePooling2D((2, 2), strides=(2, 2))(x)
