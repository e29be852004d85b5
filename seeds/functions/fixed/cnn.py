"""A convolutional classifier whose size follows from that of the images."""

import torch
from torch import nn

from ciguard.annotations import arg, exclude, floats, froms, generator, ints, lists, objs, require


@arg("size", ints(min=1, max=64))
@arg("kernel", ints(min=1, max=7))
@arg("stride", ints(min=1, max=4))
@arg("padding", ints(min=0, max=3))
@require("size + 2 * padding >= kernel")
def output_side(size, kernel, stride=1, padding=0):
    """Return the side of what a convolution makes of an image."""
    return (size + 2 * padding - kernel) // stride + 1


@arg("side", ints(min=8, max=32))
@arg("channels", lists(ints(min=1, max=6), min_len=1, max_len=3))
@arg("kernel", froms([1, 3, 5]))
@arg("classes", ints(min=1, max=10))
@arg("batch", ints(min=1, max=3))
def classify(side, channels, kernel=3, classes=10, batch=1):
    """Build a network of convolutions and poolings, and return its scores of empty images."""
    stages = []
    before, left = 3, side
    for width in channels:
        stages += [
            nn.Conv2d(before, width, kernel, padding=kernel // 2),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
        before, left = width, left // 2
    model = nn.Sequential(*stages, nn.Flatten(), nn.Linear(before * left * left, classes))
    return model(torch.zeros(batch, 3, side, side))


@generator
@exclude
@arg("inputs", ints(min=1, max=8))
@arg("outputs", ints(min=1, max=8))
@arg("bias", froms([True, False]))
def linear_layers(inputs, outputs, bias):
    return nn.Linear(inputs, outputs, bias=bias)


@arg("layer", objs(linear_layers))
@arg("gain", floats(min=0.1, max=2))
@arg("method", froms(["xavier", "he", "zeros"]))
def initialise(layer, gain=1.0, method="xavier"):
    """Fill the weights of a layer by a method, and its bias with zeros."""
    if method == "xavier":
        nn.init.xavier_uniform_(layer.weight, gain)
    elif method == "he":
        nn.init.kaiming_normal_(layer.weight)
    else:
        nn.init.zeros_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


@arg("layer", objs(linear_layers))
def count_parameters(layer):
    return sum(parameter.numel() for parameter in layer.parameters() if parameter.requires_grad)
