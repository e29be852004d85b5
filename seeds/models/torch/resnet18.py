"""ResNet18: each pair of convolutions learns what to add to its input.

He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
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
WIDTH = 8  # 64 in the paper

torch.manual_seed(0)
rng = np.random.RandomState(0)
images = torch.from_numpy(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = torch.from_numpy(rng.randint(0, CLASSES, SAMPLES))
test_images = torch.from_numpy(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = torch.from_numpy(rng.randint(0, CLASSES, TESTS))


class ResNet18(nn.Module):
    """Eight residual blocks in four stages; the last three halve the size at their beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, WIDTH, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(WIDTH)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1a_conv1 = nn.Conv2d(WIDTH, WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer1a_bn1 = nn.BatchNorm2d(WIDTH)
        self.layer1a_conv2 = nn.Conv2d(WIDTH, WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer1a_bn2 = nn.BatchNorm2d(WIDTH)
        self.layer1b_conv1 = nn.Conv2d(WIDTH, WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer1b_bn1 = nn.BatchNorm2d(WIDTH)
        self.layer1b_conv2 = nn.Conv2d(WIDTH, WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer1b_bn2 = nn.BatchNorm2d(WIDTH)
        self.layer2a_conv1 = nn.Conv2d(
            WIDTH, 2 * WIDTH, kernel_size=3, stride=2, padding=1, bias=False
        )
        self.layer2a_bn1 = nn.BatchNorm2d(2 * WIDTH)
        self.layer2a_conv2 = nn.Conv2d(2 * WIDTH, 2 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer2a_bn2 = nn.BatchNorm2d(2 * WIDTH)
        self.layer2a_shortcut = nn.Conv2d(WIDTH, 2 * WIDTH, kernel_size=1, stride=2, bias=False)
        self.layer2a_shortcut_bn = nn.BatchNorm2d(2 * WIDTH)
        self.layer2b_conv1 = nn.Conv2d(2 * WIDTH, 2 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer2b_bn1 = nn.BatchNorm2d(2 * WIDTH)
        self.layer2b_conv2 = nn.Conv2d(2 * WIDTH, 2 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer2b_bn2 = nn.BatchNorm2d(2 * WIDTH)
        self.layer3a_conv1 = nn.Conv2d(
            2 * WIDTH, 4 * WIDTH, kernel_size=3, stride=2, padding=1, bias=False
        )
        self.layer3a_bn1 = nn.BatchNorm2d(4 * WIDTH)
        self.layer3a_conv2 = nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer3a_bn2 = nn.BatchNorm2d(4 * WIDTH)
        self.layer3a_shortcut = nn.Conv2d(2 * WIDTH, 4 * WIDTH, kernel_size=1, stride=2, bias=False)
        self.layer3a_shortcut_bn = nn.BatchNorm2d(4 * WIDTH)
        self.layer3b_conv1 = nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer3b_bn1 = nn.BatchNorm2d(4 * WIDTH)
        self.layer3b_conv2 = nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer3b_bn2 = nn.BatchNorm2d(4 * WIDTH)
        self.layer4a_conv1 = nn.Conv2d(
            4 * WIDTH, 8 * WIDTH, kernel_size=3, stride=2, padding=1, bias=False
        )
        self.layer4a_bn1 = nn.BatchNorm2d(8 * WIDTH)
        self.layer4a_conv2 = nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer4a_bn2 = nn.BatchNorm2d(8 * WIDTH)
        self.layer4a_shortcut = nn.Conv2d(4 * WIDTH, 8 * WIDTH, kernel_size=1, stride=2, bias=False)
        self.layer4a_shortcut_bn = nn.BatchNorm2d(8 * WIDTH)
        self.layer4b_conv1 = nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer4b_bn1 = nn.BatchNorm2d(8 * WIDTH)
        self.layer4b_conv2 = nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1, bias=False)
        self.layer4b_bn2 = nn.BatchNorm2d(8 * WIDTH)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8 * WIDTH, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a score for each class."""
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.maxpool(x)

        identity = x
        x = F.relu(self.layer1a_bn1(self.layer1a_conv1(x)))
        x = self.layer1a_bn2(self.layer1a_conv2(x))
        x = F.relu(x + identity)

        identity = x
        x = F.relu(self.layer1b_bn1(self.layer1b_conv1(x)))
        x = self.layer1b_bn2(self.layer1b_conv2(x))
        x = F.relu(x + identity)

        identity = self.layer2a_shortcut_bn(self.layer2a_shortcut(x))
        x = F.relu(self.layer2a_bn1(self.layer2a_conv1(x)))
        x = self.layer2a_bn2(self.layer2a_conv2(x))
        x = F.relu(x + identity)

        identity = x
        x = F.relu(self.layer2b_bn1(self.layer2b_conv1(x)))
        x = self.layer2b_bn2(self.layer2b_conv2(x))
        x = F.relu(x + identity)

        identity = self.layer3a_shortcut_bn(self.layer3a_shortcut(x))
        x = F.relu(self.layer3a_bn1(self.layer3a_conv1(x)))
        x = self.layer3a_bn2(self.layer3a_conv2(x))
        x = F.relu(x + identity)

        identity = x
        x = F.relu(self.layer3b_bn1(self.layer3b_conv1(x)))
        x = self.layer3b_bn2(self.layer3b_conv2(x))
        x = F.relu(x + identity)

        identity = self.layer4a_shortcut_bn(self.layer4a_shortcut(x))
        x = F.relu(self.layer4a_bn1(self.layer4a_conv1(x)))
        x = self.layer4a_bn2(self.layer4a_conv2(x))
        x = F.relu(x + identity)

        identity = x
        x = F.relu(self.layer4b_bn1(self.layer4b_conv1(x)))
        x = self.layer4b_bn2(self.layer4b_conv2(x))
        x = F.relu(x + identity)

        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        return self.fc(x)


model = ResNet18()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

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
