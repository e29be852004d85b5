"""SqueezeNet 1.0: fire modules squeeze the channels before they expand them.

Iandola, Han, Moskewicz, Ashraf, Dally, Keutzer: SqueezeNet: AlexNet-level accuracy with 50x fewer
parameters and <0.5MB model size, 2016.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
SIZE = 48  # 224 in the paper
CLASSES = 10
SHRINK = 8  # the paper's channels are divided by it

jt.set_global_seed(0)
rng = np.random.RandomState(0)
images = jt.array(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = jt.array(rng.randint(0, CLASSES, SAMPLES))
test_images = jt.array(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = jt.array(rng.randint(0, CLASSES, TESTS))


class SqueezeNet(nn.Module):
    """Eight fire modules between two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96 // SHRINK, kernel_size=7, stride=2)
        self.maxpool1 = nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)
        self.fire2_squeeze = nn.Conv2d(96 // SHRINK, 16 // SHRINK, kernel_size=1)
        self.fire2_expand1x1 = nn.Conv2d(16 // SHRINK, 64 // SHRINK, kernel_size=1)
        self.fire2_expand3x3 = nn.Conv2d(16 // SHRINK, 64 // SHRINK, kernel_size=3, padding=1)
        self.fire3_squeeze = nn.Conv2d(128 // SHRINK, 16 // SHRINK, kernel_size=1)
        self.fire3_expand1x1 = nn.Conv2d(16 // SHRINK, 64 // SHRINK, kernel_size=1)
        self.fire3_expand3x3 = nn.Conv2d(16 // SHRINK, 64 // SHRINK, kernel_size=3, padding=1)
        self.fire4_squeeze = nn.Conv2d(128 // SHRINK, 32 // SHRINK, kernel_size=1)
        self.fire4_expand1x1 = nn.Conv2d(32 // SHRINK, 128 // SHRINK, kernel_size=1)
        self.fire4_expand3x3 = nn.Conv2d(32 // SHRINK, 128 // SHRINK, kernel_size=3, padding=1)
        self.maxpool4 = nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)
        self.fire5_squeeze = nn.Conv2d(256 // SHRINK, 32 // SHRINK, kernel_size=1)
        self.fire5_expand1x1 = nn.Conv2d(32 // SHRINK, 128 // SHRINK, kernel_size=1)
        self.fire5_expand3x3 = nn.Conv2d(32 // SHRINK, 128 // SHRINK, kernel_size=3, padding=1)
        self.fire6_squeeze = nn.Conv2d(256 // SHRINK, 48 // SHRINK, kernel_size=1)
        self.fire6_expand1x1 = nn.Conv2d(48 // SHRINK, 192 // SHRINK, kernel_size=1)
        self.fire6_expand3x3 = nn.Conv2d(48 // SHRINK, 192 // SHRINK, kernel_size=3, padding=1)
        self.fire7_squeeze = nn.Conv2d(384 // SHRINK, 48 // SHRINK, kernel_size=1)
        self.fire7_expand1x1 = nn.Conv2d(48 // SHRINK, 192 // SHRINK, kernel_size=1)
        self.fire7_expand3x3 = nn.Conv2d(48 // SHRINK, 192 // SHRINK, kernel_size=3, padding=1)
        self.fire8_squeeze = nn.Conv2d(384 // SHRINK, 64 // SHRINK, kernel_size=1)
        self.fire8_expand1x1 = nn.Conv2d(64 // SHRINK, 256 // SHRINK, kernel_size=1)
        self.fire8_expand3x3 = nn.Conv2d(64 // SHRINK, 256 // SHRINK, kernel_size=3, padding=1)
        self.maxpool8 = nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)
        self.fire9_squeeze = nn.Conv2d(512 // SHRINK, 64 // SHRINK, kernel_size=1)
        self.fire9_expand1x1 = nn.Conv2d(64 // SHRINK, 256 // SHRINK, kernel_size=1)
        self.fire9_expand3x3 = nn.Conv2d(64 // SHRINK, 256 // SHRINK, kernel_size=3, padding=1)
        self.dropout = nn.Dropout(p=0.5)
        self.conv10 = nn.Conv2d(512 // SHRINK, CLASSES, kernel_size=1)
        self.avgpool = nn.AdaptiveAvgPool2d(1)

    def execute(self, x: jt.Var) -> jt.Var:
        """Return a score for each class."""
        x = nn.relu(self.conv1(x))
        x = self.maxpool1(x)

        x = nn.relu(self.fire2_squeeze(x))
        expand1x1 = nn.relu(self.fire2_expand1x1(x))
        expand3x3 = nn.relu(self.fire2_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)

        x = nn.relu(self.fire3_squeeze(x))
        expand1x1 = nn.relu(self.fire3_expand1x1(x))
        expand3x3 = nn.relu(self.fire3_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)

        x = nn.relu(self.fire4_squeeze(x))
        expand1x1 = nn.relu(self.fire4_expand1x1(x))
        expand3x3 = nn.relu(self.fire4_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)
        x = self.maxpool4(x)

        x = nn.relu(self.fire5_squeeze(x))
        expand1x1 = nn.relu(self.fire5_expand1x1(x))
        expand3x3 = nn.relu(self.fire5_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)

        x = nn.relu(self.fire6_squeeze(x))
        expand1x1 = nn.relu(self.fire6_expand1x1(x))
        expand3x3 = nn.relu(self.fire6_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)

        x = nn.relu(self.fire7_squeeze(x))
        expand1x1 = nn.relu(self.fire7_expand1x1(x))
        expand3x3 = nn.relu(self.fire7_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)

        x = nn.relu(self.fire8_squeeze(x))
        expand1x1 = nn.relu(self.fire8_expand1x1(x))
        expand3x3 = nn.relu(self.fire8_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)
        x = self.maxpool8(x)

        x = nn.relu(self.fire9_squeeze(x))
        expand1x1 = nn.relu(self.fire9_expand1x1(x))
        expand3x3 = nn.relu(self.fire9_expand3x3(x))
        x = jt.concat([expand1x1, expand3x3], dim=1)

        x = self.dropout(x)
        x = nn.relu(self.conv10(x))
        x = self.avgpool(x)
        return jt.flatten(x, 1)


model = SqueezeNet()
optimizer = nn.Adam(model.parameters(), lr=0.001)

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
