"""SqueezeNet 1.0: fire modules squeeze the channels before they expand them.

Iandola, Han, Moskewicz, Ashraf, Dally, Keutzer: SqueezeNet: AlexNet-level accuracy with 50x fewer
parameters and <0.5MB model size, 2016.
"""

import numpy as np
import torch
from torch import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 48  # 224 in the paper
CLASSES = 10
SHRINK = 8  # the paper's channels are divided by it

torch.manual_seed(0)
rng = np.random.RandomState(0)
images = torch.from_numpy(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = torch.from_numpy(rng.randint(0, CLASSES, SAMPLES))
test_images = torch.from_numpy(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = torch.from_numpy(rng.randint(0, CLASSES, TESTS))


class Fire(nn.Module):
    """Squeezes to few channels, then expands them by two convolutions side by side."""

    def __init__(self, channels: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, kernel_size=1)
        self.expand1x1 = nn.Conv2d(squeezed, expanded, kernel_size=1)
        self.expand3x3 = nn.Conv2d(squeezed, expanded, kernel_size=3, padding=1)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return twice as many channels as each expansion has."""
        x = self.relu(self.squeeze(x))
        return torch.cat([self.relu(self.expand1x1(x)), self.relu(self.expand3x3(x))], dim=1)


model = nn.Sequential(
    nn.Conv2d(3, 96 // SHRINK, kernel_size=7, stride=2),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
    Fire(96 // SHRINK, 16 // SHRINK, 64 // SHRINK),
    Fire(128 // SHRINK, 16 // SHRINK, 64 // SHRINK),
    Fire(128 // SHRINK, 32 // SHRINK, 128 // SHRINK),
    nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
    Fire(256 // SHRINK, 32 // SHRINK, 128 // SHRINK),
    Fire(256 // SHRINK, 48 // SHRINK, 192 // SHRINK),
    Fire(384 // SHRINK, 48 // SHRINK, 192 // SHRINK),
    Fire(384 // SHRINK, 64 // SHRINK, 256 // SHRINK),
    nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
    Fire(512 // SHRINK, 64 // SHRINK, 256 // SHRINK),
    nn.Dropout(p=0.5),
    nn.Conv2d(512 // SHRINK, CLASSES, kernel_size=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

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
