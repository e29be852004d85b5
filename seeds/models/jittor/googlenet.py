"""GoogLeNet: nine inception modules, each with four branches side by side.

Szegedy, Liu, Jia, Sermanet, Reed, Anguelov, Erhan, Vanhoucke, Rabinovich: Going deeper with
convolutions, 2015; without the auxiliary classifiers.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 50
SIZE = 100  # 224 in the paper
CLASSES = 10
SHRINK = 16  # the paper's channels are divided by it

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))
test_images = jt.array(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = jt.array(rng.randint(0, CLASSES, TESTS))


class Inception(nn.Module):
    """Convolutions of three sizes and a maximum; their channels are put one behind the other.

    The larger convolutions see fewer channels: `conv3x3` and `conv5x5` tell how many, and how many
    they make of them.
    """

    def __init__(
        self,
        channels: int,
        conv1x1: int,
        conv3x3: tuple[int, int],
        conv5x5: tuple[int, int],
        pooled: int,
    ) -> None:
        super().__init__()
        channels = channels // SHRINK
        self.branch1 = nn.Conv2d(channels, conv1x1 // SHRINK, kernel_size=1)
        reduced, expanded = conv3x3[0] // SHRINK, conv3x3[1] // SHRINK
        self.reduce3x3 = nn.Conv2d(channels, reduced, kernel_size=1)
        self.branch2 = nn.Conv2d(reduced, expanded, kernel_size=3, padding=1)
        reduced, expanded = conv5x5[0] // SHRINK, conv5x5[1] // SHRINK
        self.reduce5x5 = nn.Conv2d(channels, reduced, kernel_size=1)
        self.branch3 = nn.Conv2d(reduced, expanded, kernel_size=5, padding=2)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=1, padding=1)
        self.branch4 = nn.Conv2d(channels, pooled // SHRINK, kernel_size=1)

    def execute(self, x: jt.Var) -> jt.Var:
        """Return an image of the same height and width."""
        branch1 = nn.relu(self.branch1(x))
        branch2 = nn.relu(self.branch2(nn.relu(self.reduce3x3(x))))
        branch3 = nn.relu(self.branch3(nn.relu(self.reduce5x5(x))))
        branch4 = nn.relu(self.branch4(self.pool(x)))
        return jt.concat([branch1, branch2, branch3, branch4], dim=1)


class GoogLeNet(nn.Module):
    """Three convolutions, nine inception modules, one dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64 // SHRINK, kernel_size=7, stride=2, padding=3)
        self.pool1 = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(64 // SHRINK, 64 // SHRINK, kernel_size=1)
        self.conv3 = nn.Conv2d(64 // SHRINK, 192 // SHRINK, kernel_size=3, padding=1)
        self.pool2 = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.inception3a = Inception(192, 64, (96, 128), (16, 32), 32)
        self.inception3b = Inception(256, 128, (128, 192), (32, 96), 64)
        self.pool3 = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.inception4a = Inception(480, 192, (96, 208), (16, 48), 64)
        self.inception4b = Inception(512, 160, (112, 224), (24, 64), 64)
        self.inception4c = Inception(512, 128, (128, 256), (24, 64), 64)
        self.inception4d = Inception(512, 112, (144, 288), (32, 64), 64)
        self.inception4e = Inception(528, 256, (160, 320), (32, 128), 128)
        self.pool4 = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.inception5a = Inception(832, 256, (160, 320), (32, 128), 128)
        self.inception5b = Inception(832, 384, (192, 384), (48, 128), 128)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(p=0.4)
        self.fc = nn.Linear(1024 // SHRINK, CLASSES)

    def execute(self, x: jt.Var) -> jt.Var:
        """Return a score for each class."""
        x = nn.relu(self.conv1(x))
        x = self.pool1(x)
        x = nn.relu(self.conv2(x))
        x = nn.relu(self.conv3(x))
        x = self.pool2(x)
        x = self.inception3a(x)
        x = self.inception3b(x)
        x = self.pool3(x)
        x = self.inception4a(x)
        x = self.inception4b(x)
        x = self.inception4c(x)
        x = self.inception4d(x)
        x = self.inception4e(x)
        x = self.pool4(x)
        x = self.inception5a(x)
        x = self.inception5b(x)
        x = self.avgpool(x)
        x = jt.flatten(x, 1)
        x = self.dropout(x)
        return self.fc(x)


model = GoogLeNet()
optimizer = nn.SGD(model.parameters(), lr=0.01, momentum=0.9)

model.train()
for start in range(0, SAMPLES, BATCH):
    scores = model(images[start : start + BATCH])
    step_loss = nn.cross_entropy_loss(scores, labels[start : start + BATCH])
    optimizer.step(step_loss)
loss = step_loss.item()

model.eval()
with jt.no_grad():
    predictions = model(test_images)
chosen, _ = predictions.argmax(dim=1)
accuracy = (chosen == test_labels).float32().mean().item()

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
