"""ResNet18: each pair of convolutions learns what to add to its input.

He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 32  # 224 in the paper
CLASSES = 10
WIDTH = 8  # 64 in the paper

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))
test_images = jt.array(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = jt.array(rng.randint(0, CLASSES, TESTS))


class BasicBlock(nn.Module):
    """Two convolutions whose result is added to their input."""

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(
            in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False
        )
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.shortcut = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(out_channels),
            )

    def execute(self, x: jt.Var) -> jt.Var:
        """Return an image with `out_channels` channels."""
        identity = self.shortcut(x)
        x = nn.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        return nn.relu(x + identity)


class ResNet18(nn.Module):
    """Eight residual blocks in four stages; the last three halve the size at their beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, WIDTH, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(WIDTH)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = nn.Sequential(BasicBlock(WIDTH, WIDTH), BasicBlock(WIDTH, WIDTH))
        self.layer2 = nn.Sequential(
            BasicBlock(WIDTH, 2 * WIDTH, stride=2), BasicBlock(2 * WIDTH, 2 * WIDTH)
        )
        self.layer3 = nn.Sequential(
            BasicBlock(2 * WIDTH, 4 * WIDTH, stride=2), BasicBlock(4 * WIDTH, 4 * WIDTH)
        )
        self.layer4 = nn.Sequential(
            BasicBlock(4 * WIDTH, 8 * WIDTH, stride=2), BasicBlock(8 * WIDTH, 8 * WIDTH)
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8 * WIDTH, CLASSES)

    def execute(self, x: jt.Var) -> jt.Var:
        """Return a score for each class."""
        x = nn.relu(self.bn1(self.conv1(x)))
        x = self.maxpool(x)
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        x = self.avgpool(x)
        x = jt.flatten(x, 1)
        return self.fc(x)


model = ResNet18()
optimizer = nn.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

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
