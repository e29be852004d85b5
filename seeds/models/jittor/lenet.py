"""LeNet-5 reads handwritten digits.

LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 28
CLASSES = 10

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 1, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))
test_images = jt.array(rng.rand(TESTS, 1, SIZE, SIZE).astype("float32"))
test_labels = jt.array(rng.randint(0, CLASSES, TESTS))


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

    def execute(self, x: jt.Var) -> jt.Var:
        """Return a score for each class."""
        x = jt.tanh(self.conv1(x))
        x = self.pool1(x)
        x = jt.tanh(self.conv2(x))
        x = self.pool2(x)
        x = jt.flatten(x, 1)
        x = jt.tanh(self.fc1(x))
        x = jt.tanh(self.fc2(x))
        return self.fc3(x)


model = LeNet()
optimizer = nn.SGD(model.parameters(), lr=0.05, momentum=0.9)

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
