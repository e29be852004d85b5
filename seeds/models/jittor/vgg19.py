"""VGG19: sixteen small convolutions and three dense layers, one after the other.

Simonyan, Zisserman: Very deep convolutional networks for large-scale image recognition, 2014.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 48  # 224 in the paper
CLASSES = 10
WIDTH = 2  # 64 in the paper
GRID = SIZE // 32

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))
test_images = jt.array(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = jt.array(rng.randint(0, CLASSES, TESTS))


class VGG19(nn.Module):
    """Convolutions that see ever larger parts of an image, then dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
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
        )
        self.classifier = nn.Sequential(
            nn.Linear(8 * WIDTH * GRID * GRID, 64 * WIDTH),
            nn.ReLU(),
            nn.Dropout(p=0.5),
            nn.Linear(64 * WIDTH, 64 * WIDTH),
            nn.ReLU(),
            nn.Dropout(p=0.5),
            nn.Linear(64 * WIDTH, CLASSES),
        )

    def execute(self, x: jt.Var) -> jt.Var:
        """Return a score for each class."""
        x = self.features(x)
        x = jt.flatten(x, 1)
        return self.classifier(x)


model = VGG19()
optimizer = nn.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)

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
