"""MobileNet v1: depthwise separable convolutions.

Howard, Zhu, Chen, Kalenichenko, Wang, Weyand, Andreetto, Adam: MobileNets: Efficient convolutional
neural networks for mobile vision applications, 2017.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 32  # 224 in the paper
CLASSES = 10
WIDTH = 4  # 32 in the paper

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))
test_images = jt.array(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = jt.array(rng.randint(0, CLASSES, TESTS))

model = nn.Sequential(
    nn.Conv2d(3, WIDTH, kernel_size=3, stride=2, padding=1, bias=False),
    nn.BatchNorm2d(WIDTH),
    nn.ReLU(),
    nn.Conv2d(WIDTH, WIDTH, kernel_size=3, padding=1, groups=WIDTH, bias=False),
    nn.BatchNorm2d(WIDTH),
    nn.ReLU(),
    nn.Conv2d(WIDTH, 2 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(2 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(
        2 * WIDTH, 2 * WIDTH, kernel_size=3, stride=2, padding=1, groups=2 * WIDTH, bias=False
    ),
    nn.BatchNorm2d(2 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(2 * WIDTH, 4 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(4 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1, groups=4 * WIDTH, bias=False),
    nn.BatchNorm2d(4 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(4 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(
        4 * WIDTH, 4 * WIDTH, kernel_size=3, stride=2, padding=1, groups=4 * WIDTH, bias=False
    ),
    nn.BatchNorm2d(4 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(4 * WIDTH, 8 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(8 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1, groups=8 * WIDTH, bias=False),
    nn.BatchNorm2d(8 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(8 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(
        8 * WIDTH, 8 * WIDTH, kernel_size=3, stride=2, padding=1, groups=8 * WIDTH, bias=False
    ),
    nn.BatchNorm2d(8 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(8 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(
        16 * WIDTH, 16 * WIDTH, kernel_size=3, stride=2, padding=1, groups=16 * WIDTH, bias=False
    ),
    nn.BatchNorm2d(16 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(16 * WIDTH, 32 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(32 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(32 * WIDTH, 32 * WIDTH, kernel_size=3, padding=1, groups=32 * WIDTH, bias=False),
    nn.BatchNorm2d(32 * WIDTH),
    nn.ReLU(),
    nn.Conv2d(32 * WIDTH, 32 * WIDTH, kernel_size=1, bias=False),
    nn.BatchNorm2d(32 * WIDTH),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(32 * WIDTH, CLASSES),
)
criterion = nn.CrossEntropyLoss()
optimizer = nn.RMSprop(model.parameters(), lr=0.001)

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
