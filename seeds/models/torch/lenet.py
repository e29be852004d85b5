"""LeNet-5 reads handwritten digits.

LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 28
CLASSES = 10

torch.manual_seed(0)
rng = np.random.RandomState(0)
images = torch.from_numpy(rng.rand(SAMPLES, 1, SIZE, SIZE).astype("float32"))
labels = torch.from_numpy(rng.randint(0, CLASSES, SAMPLES))
test_images = torch.from_numpy(rng.rand(TESTS, 1, SIZE, SIZE).astype("float32"))
test_labels = torch.from_numpy(rng.randint(0, CLASSES, TESTS))


class LeNet(nn.Module):
    """Two convolutions and three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5, padding=2)
        self.pool1 = nn.AvgPool2d(kernel_size=2, stride=2)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.pool2 = nn.AvgPool2d(kernel_size=2, stride=2)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a score for each class."""
        x = torch.tanh(self.conv1(x))
        x = self.pool1(x)
        x = torch.tanh(self.conv2(x))
        x = self.pool2(x)
        x = torch.flatten(x, 1)
        x = torch.tanh(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


model = LeNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

model.train()
for start in range(0, SAMPLES, BATCH):
    batch = images[start : start + BATCH]
    truth = labels[start : start + BATCH]
    optimizer.zero_grad()
    step_loss = F.cross_entropy(model(batch), truth)
    step_loss.backward()
    optimizer.step()
loss = step_loss.item()

model.eval()
with torch.no_grad():
    predictions = model(test_images)
accuracy = (predictions.argmax(dim=1) == test_labels).float().mean().item()

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
