"""VGG19: sixteen small convolutions and three dense layers, one after the other.

Simonyan, Zisserman: Very deep convolutional networks for large-scale image recognition, 2014.
"""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 32  # 224 in the paper
CLASSES = 10
WIDTH = 8  # 64 in the paper
GRID = SIZE // 32

torch.manual_seed(0)
rng = np.random.RandomState(0)
images = torch.from_numpy(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = torch.from_numpy(rng.randint(0, CLASSES, SAMPLES))
test_images = torch.from_numpy(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = torch.from_numpy(rng.randint(0, CLASSES, TESTS))
loader = DataLoader(TensorDataset(images, labels), batch_size=BATCH, shuffle=True)

model = nn.Sequential(
    nn.Conv2d(3, WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(WIDTH, WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Conv2d(WIDTH, 2 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(2 * WIDTH, 2 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Conv2d(2 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Conv2d(4 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Flatten(),
    nn.Linear(8 * WIDTH * GRID * GRID, 64 * WIDTH),
    nn.ReLU(),
    nn.Dropout(p=0.5),
    nn.Linear(64 * WIDTH, 64 * WIDTH),
    nn.ReLU(),
    nn.Dropout(p=0.5),
    nn.Linear(64 * WIDTH, CLASSES),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)

model.train()
for batch, truth in loader:
    optimizer.zero_grad()
    step_loss = criterion(model(batch), truth)
    step_loss.backward()
    optimizer.step()
loss = step_loss.item()

model.eval()
with torch.no_grad():
    predictions = model(test_images)
accuracy = (predictions.argmax(dim=1) == test_labels).float().mean().item()

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
