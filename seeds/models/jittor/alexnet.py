"""AlexNet for small colour images.

Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks,
2012; on one device, as in Krizhevsky: One weird trick for parallelizing convolutional neural
networks, 2014.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 64
CLASSES = 10
WIDTH = 8  # 64 in the paper
GRID = SIZE // 32

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))
test_images = jt.array(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = jt.array(rng.randint(0, CLASSES, TESTS))

model = nn.Sequential(
    nn.Conv2d(3, WIDTH, kernel_size=11, stride=4, padding=5),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Conv2d(WIDTH, 3 * WIDTH, kernel_size=5, padding=2),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Conv2d(3 * WIDTH, 6 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(6 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(kernel_size=2, stride=2),
    nn.Flatten(),
    nn.Dropout(p=0.5),
    nn.Linear(4 * WIDTH * GRID * GRID, 64 * WIDTH),
    nn.ReLU(),
    nn.Dropout(p=0.5),
    nn.Linear(64 * WIDTH, 64 * WIDTH),
    nn.ReLU(),
    nn.Linear(64 * WIDTH, CLASSES),
)
criterion = nn.CrossEntropyLoss()
optimizer = nn.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)

model.train()
for start in range(0, SAMPLES, BATCH):
    scores = model(images[start : start + BATCH])
    step_loss = criterion(scores, labels[start : start + BATCH])
    optimizer.step(step_loss)
loss = step_loss.item()

model.eval()
with jt.no_grad():
    predictions = model(test_images)
chosen, _ = predictions.argmax(dim=1)
accuracy = (chosen == test_labels).float32().mean().item()

print(f"loss {loss:.4f}, accuracy {accuracy:.2f}")
