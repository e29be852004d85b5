"""Small programs that build, train and evaluate a model, in every style and library."""

from __future__ import annotations

_TORCH_TOP = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
images = torch.randn(8, 3, 8, 8)
labels = torch.arange(8) % 4
"""

_TORCH_TRAINING = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for start in range(0, 8, 4):
    optimizer.zero_grad()
    step_loss = F.cross_entropy(model(images[start:start + 4]), labels[start:start + 4])
    step_loss.backward()
    optimizer.step()
loss = step_loss.item()
model.eval()
predictions = model(images).detach()
"""

_KERAS_TOP = """
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
images = np.random.RandomState(0).rand(8, 8, 8, 3).astype("float32")
labels = np.arange(8) % 4
"""

_KERAS_TRAINING = """
model.compile(
    optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
)
loss = float(model.fit(images, labels, batch_size=4, epochs=1, verbose=0).history["loss"][-1])
predictions = model(images)
"""

_JITTOR_TOP = """
import jittor as jt
import numpy as np
from jittor import nn

jt.set_global_seed(0)
images = jt.array(np.random.RandomState(0).rand(8, 3, 8, 8).astype("float32"))
labels = jt.array(np.arange(8) % 4)
"""

_JITTOR_TRAINING = """
optimizer = nn.SGD(model.parameters(), lr=0.1)
for start in range(0, 8, 4):
    step_loss = nn.cross_entropy_loss(model(images[start:start + 4]), labels[start:start + 4])
    optimizer.step(step_loss)
loss = step_loss.item()
model.eval()
predictions = model(images)
predictions.sync()
"""

TORCH = {
    "sequence": """
model = nn.Sequential(
    nn.Conv2d(3, 6, kernel_size=3, padding=1),
    nn.BatchNorm2d(6),
    nn.ReLU(inplace=True),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(6 * 4 * 4, 4),
    nn.LogSoftmax(dim=1),
)
""",
    "named sequence": """
from collections import OrderedDict

model = nn.Sequential(OrderedDict([
    ("conv", nn.Conv2d(3, 6, 3)),
    ("pool", nn.AdaptiveAvgPool2d(1)),
    ("flat", nn.Flatten()),
    ("fc", nn.Linear(6, 4)),
]))
""",
    "class": """
class Net(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(6, 8, 3, padding=1)
        self.relu = nn.ReLU()
        self.fc1 = nn.Linear(32, 16)
        self.fc2 = nn.Linear(16, classes)

    def forward(self, x):
        batch = x.size(0)
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = x.view(batch, -1)
        return self.fc2(self.relu(self.fc1(x)))


model = Net()
""",
    "sequences in a class": """
class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 6, 3),
            nn.ReLU(),
            nn.Sequential(nn.Conv2d(6, 6, 1), nn.Tanh()),
        )
        self.classifier = nn.Sequential(
            nn.Linear(6 * 36, 8),
            nn.Dropout(0.5),
            nn.Linear(8, 4),
            nn.Identity(),
        )

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


model = Net()
""",
    "branches": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, padding=1)
        self.conv1 = nn.Conv2d(6, 6, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(6)
        self.shortcut = nn.Sequential(nn.Conv2d(6, 6, 1), nn.BatchNorm2d(6))
        self.left = nn.Conv2d(6, 3, 1)
        self.right = nn.Conv2d(6, 5, 3, padding=1)
        self.fc = nn.Linear(8, 4)
        nn.init.zeros_(self.fc.bias)

    def forward(self, x):
        out = self.stem(x)
        identity = self.shortcut(out)
        out = self.bn1(self.conv1(out))
        out += identity
        out = F.relu(out)
        left = self.left(out)
        right = F.relu(self.right(out))
        joined = torch.cat([left, right], dim=1)
        if self.training:
            joined = F.dropout(joined, 0.1)
        joined = joined.mean(dim=(2, 3))
        return self.fc(joined)


model = Net()
""",
    "own classes": """
class Basic(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.bn = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


def make_head(features, classes):
    return nn.Sequential(nn.Dropout(0.1), nn.Linear(features, classes))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.block1 = Basic(4, 6)
        self.block2 = Basic(6, 6)
        self.blocks = nn.ModuleList([Basic(6, 6) for _ in range(2)])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = make_head(6, 4)

    def forward(self, x):
        x = self.conv(x)
        x = self.block1(x)
        x = self.block2(x)
        for block in self.blocks:
            x = block(x)
        x = self.pool(x)
        x = torch.flatten(x, 1)
        return self.head(x)


def main():
    net = Net()
    return net


model = main()
""",
    "recurrent": """
class Net(nn.Module):
    def __init__(self, hidden=6):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(24, hidden, num_layers=2, batch_first=True)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 4)

    def forward(self, x):
        x = x.flatten(2).transpose(1, 2).reshape(x.shape[0], -1, 24)
        h0 = torch.zeros(2, x.size(0), self.hidden)
        c0 = torch.zeros(2, x.size(0), self.hidden)
        out, _ = self.lstm(x, (h0, c0))
        out, _ = self.gru(out)
        return self.fc(out[:, -1, :])


model = Net()
""",
}
"""The part that makes `model`, by style."""

KERAS = {
    "sequence": """
model = keras.Sequential([
    keras.Input(shape=(8, 8, 3)),
    layers.Conv2D(6, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(4),
])
""",
    "added": """
model = keras.Sequential()
model.add(keras.Input((8, 8, 3)))
for filters in (4, 6):
    model.add(layers.Conv2D(filters, 3, padding="same"))
model.add(layers.ReLU())
model.add(layers.GlobalAveragePooling2D())
model.add(layers.Dense(4))
model.add(layers.Activation("linear"))
""",
    "functional": """
def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x)


def build(classes):
    inputs = keras.Input(shape=(8, 8, 3))
    x = layers.Rescaling(0.5)(inputs)
    x = conv_block(x, 6)
    shortcut = x
    x = conv_block(x, 6)
    x = layers.add([x, shortcut])
    left = layers.Conv2D(4, 1)(x)
    right = layers.Conv2D(4, 3, padding="same")(x)
    x = layers.Concatenate()([left, right])
    x = layers.Activation("relu")(layers.MaxPooling2D(2)(x))
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(classes)(x))


model = build(4)
""",
    "functional with a branch at the input": """
inputs = keras.Input(shape=(8, 8, 3))
small = layers.AveragePooling2D(2)(inputs)
small = layers.UpSampling2D(2)(small)
x = layers.Concatenate()([inputs, small])
flatten = layers.Flatten()
x = flatten(x)
x = layers.Dense(8, activation="relu")(x)
outputs = layers.Dense(4)(x)
outputs = layers.Activation("linear")(outputs)
model = keras.Model(inputs=inputs, outputs=outputs)
""",
    "class": """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv2D(6, 3)
        self.bn = layers.BatchNormalization()
        self.act = layers.ReLU()
        self.body = keras.Sequential([layers.Flatten(), layers.Dense(8)])
        self.out = layers.Dense(4)

    def call(self, inputs, training=False):
        x = self.act(self.bn(self.conv(inputs), training=training))
        x = self.body(x)
        x = tf.nn.relu(x)
        return self.out(self.act(x))


model = Net()
""",
}

JITTOR = {
    "sequence": """
model = nn.Sequential(
    nn.Conv(3, 6, 3, padding=1),
    nn.Relu(),
    nn.Pool(2, 2),
    nn.Flatten(),
    nn.Linear(6 * 4 * 4, 4),
)
""",
    "class": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv(3, 6, 3)
        self.bn = nn.BatchNorm(6)
        self.relu = nn.Relu()
        self.fc1 = nn.Linear(6 * 36, 8)
        self.fc2 = nn.Linear(8, 4)

    def execute(self, x):
        x = self.relu(self.bn(self.conv(x)))
        x = x.reshape(x.shape[0], -1)
        x = nn.relu(self.fc1(x))
        return self.fc2(x)


model = Net()
""",
}

_FRAMES = {
    "torch": (_TORCH_TOP, TORCH, _TORCH_TRAINING),
    "tensorflow": (_KERAS_TOP, KERAS, _KERAS_TRAINING),
    "jittor": (_JITTOR_TOP, JITTOR, _JITTOR_TRAINING),
}

PROGRAMS = {
    (library, style): top + model + training
    for library, (top, models, training) in _FRAMES.items()
    for style, model in models.items()
}
"""Whole programs, by library and style; each ends with globals `loss` and `predictions`."""


def program(library: str, model: str) -> str:
    """Return a whole program that makes its model with the given statements."""
    top, _, training = _FRAMES[library]
    return top + model + training
