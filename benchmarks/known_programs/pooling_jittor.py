"""Classifies images that are pooled and enlarged: a seed program of level `code` for Jittor."""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 40
SIZE = 12
BATCH = 10
CLASSES = 3

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 1, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))


class Pooling(nn.Module):
    """One convolution between a pool and an enlargement."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, kernel_size=3, padding=1)
        self.pool = nn.Pool(2)
        self.larger = nn.Upsample(scale_factor=2)
        self.scores = nn.Linear(4 * SIZE * SIZE, CLASSES)

    def execute(self, x: jt.Var) -> jt.Var:
        """Return a score for each class."""
        x = nn.relu(self.conv(x))
        x = self.pool(x)
        x = self.larger(x)
        x = jt.flatten(x, 1)
        return self.scores(x)


model = Pooling()
optimizer = nn.SGD(model.parameters(), lr=0.05)

model.train()
for start in range(0, SAMPLES, BATCH):
    scores = model(images[start : start + BATCH])
    step_loss = nn.cross_entropy_loss(scores, labels[start : start + BATCH])
    optimizer.step(step_loss)
loss = step_loss.item()

model.eval()
with jt.no_grad():
    predictions = model(images)

print(f"loss {loss:.4f}")
