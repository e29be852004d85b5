"""GoogLeNet: nine inception modules, each with four branches side by side.

Szegedy, Liu, Jia, Sermanet, Reed, Anguelov, Erhan, Vanhoucke, Rabinovich: Going deeper with
convolutions, 2015; without the auxiliary classifiers.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 32  # 224 in the paper
CLASSES = 10
SHRINK = 8  # the paper's channels are divided by it

torch.manual_seed(0)
rng = np.random.RandomState(0)
images = torch.from_numpy(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = torch.from_numpy(rng.randint(0, CLASSES, SAMPLES))
test_images = torch.from_numpy(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = torch.from_numpy(rng.randint(0, CLASSES, TESTS))


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

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return an image of the same height and width."""
        branch1 = F.relu(self.branch1(x))
        branch2 = F.relu(self.branch2(F.relu(self.reduce3x3(x))))
        branch3 = F.relu(self.branch3(F.relu(self.reduce5x5(x))))
        branch4 = F.relu(self.branch4(self.pool(x)))
        return torch.cat([branch1, branch2, branch3, branch4], dim=1)


model = nn.Sequential(
    nn.Conv2d(3, 64 // SHRINK, kernel_size=7, stride=2, padding=3),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
    nn.LocalResponseNorm(size=5, alpha=0.0001, beta=0.75),
    nn.Conv2d(64 // SHRINK, 64 // SHRINK, kernel_size=1),
    nn.ReLU(),
    nn.Conv2d(64 // SHRINK, 192 // SHRINK, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.LocalResponseNorm(size=5, alpha=0.0001, beta=0.75),
    nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
    Inception(192, 64, (96, 128), (16, 32), 32),
    Inception(256, 128, (128, 192), (32, 96), 64),
    nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
    Inception(480, 192, (96, 208), (16, 48), 64),
    Inception(512, 160, (112, 224), (24, 64), 64),
    Inception(512, 128, (128, 256), (24, 64), 64),
    Inception(512, 112, (144, 288), (32, 64), 64),
    Inception(528, 256, (160, 320), (32, 128), 128),
    nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
    Inception(832, 256, (160, 320), (32, 128), 128),
    Inception(832, 384, (192, 384), (48, 128), 128),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Dropout(p=0.4),
    nn.Linear(1024 // SHRINK, CLASSES),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

model.train()
for start in range(0, SAMPLES, BATCH):
    optimizer.zero_grad()
    scores = model(images[start : start + BATCH])
    step_loss = criterion(scores, labels[start : start + BATCH])
    step_loss.backward()
    optimizer.step()
loss = step_loss.item()

model.eval()
with torch.no_grad():
    predictions = model(test_images)
accuracy = (predictions.argmax(dim=1) == test_labels).float().mean().item()

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
