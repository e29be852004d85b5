"""Residual networks.

He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
"""

import torch
from torch import nn

from ciguard.annotations import arg, cc_example, exclude, generator, ints, lists, objs, tensors


class BasicBlock(nn.Module):
    """Two convolutions and a shortcut around them."""

    @arg("in_channels", ints(min=1, max=12))
    @arg("channels", ints(min=1, max=12))
    @arg("stride", ints(min=1, max=2))
    def __init__(self, in_channels, channels, stride=1):
        super().__init__()
        self.in_channels = in_channels
        self.body = nn.Sequential(
            nn.Conv2d(in_channels, channels, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )
        self.shortcut = nn.Identity()
        if in_channels != channels:
            self.shortcut = nn.Conv2d(in_channels, channels, 1, stride=stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


@generator
@exclude
@arg("in_channels", ints(min=1, max=6))
@arg("channels", ints(min=1, max=6))
@arg("stride", ints(min=1, max=2))
def blocks(in_channels, channels, stride):
    return BasicBlock(in_channels, channels, stride)


@arg("block", objs(blocks))
@arg("size", ints(min=2, max=10))
@arg("batch", ints(min=1, max=3))
def output_size(block, size, batch=1):
    """Return the height and width of what a block makes of square images."""
    images = torch.zeros(batch, block.in_channels, size, size)
    block.eval()
    with torch.no_grad():
        _, _, height, width = block(images).shape
    return height, width


class ResNet(nn.Module):
    @arg("layers", lists(ints(min=1, max=2), min_len=1, max_len=3))
    @arg("width", ints(min=1, max=8))
    @arg("classes", ints(min=1, max=10))
    @cc_example([[1, 1], 4, 3])
    @cc_example([[2], 2, 5])
    def __init__(self, layers, width=16, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        stages = []
        channels = width
        for number, depth in enumerate(layers):
            wider = width * 2**number
            for position in range(depth):
                stride = 2 if number > 0 and position == 0 else 1
                stages.append(BasicBlock(channels, wider, stride))
                channels = wider
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(channels, classes)

    @arg("x", tensors("float32", (ints(2, 3), 3, ints(4, 12), ints(4, 12)), min=-1, max=1))
    def forward(self, x):
        x = self.stages(self.stem(x))
        return self.head(x.mean(dim=(2, 3)))

    @arg("x", tensors("float32", (ints(1, 3), 3, ints(4, 8), ints(4, 8)), min=-1, max=1))
    @arg("k", ints(min=1, max=3))
    def best(self, x, k=1):
        """Return the most likely classes of each image and their probabilities."""
        self.eval()
        with torch.no_grad():
            probabilities = torch.softmax(self.forward(x), dim=1)
        found = []
        for row in probabilities:
            values, classes = row.topk(k) if k > 1 else row.max(dim=0, keepdim=True)
            found.append(list(zip(classes.tolist(), values.tolist())))
        return found
