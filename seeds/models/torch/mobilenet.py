"""MobileNet v1: depthwise separable convolutions.

Howard, Zhu, Chen, Kalenichenko, Wang, Weyand, Andreetto, Adam: MobileNets: Efficient convolutional
neural networks for mobile vision applications, 2017.
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
WIDTH = 4  # 32 in the paper

torch.manual_seed(0)
rng = np.random.RandomState(0)
images = torch.from_numpy(rng.rand(SAMPLES, 3, SIZE, SIZE).astype("float32"))
labels = torch.from_numpy(rng.randint(0, CLASSES, SAMPLES))
test_images = torch.from_numpy(rng.rand(TESTS, 3, SIZE, SIZE).astype("float32"))
test_labels = torch.from_numpy(rng.randint(0, CLASSES, TESTS))


class MobileNet(nn.Module):
    """Thirteen times a convolution of each channel alone and one across channels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, WIDTH, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(WIDTH)
        self.depthwise1 = nn.Conv2d(
            WIDTH, WIDTH, kernel_size=3, padding=1, groups=WIDTH, bias=False
        )
        self.depthwise1_bn = nn.BatchNorm2d(WIDTH)
        self.pointwise1 = nn.Conv2d(WIDTH, 2 * WIDTH, kernel_size=1, bias=False)
        self.pointwise1_bn = nn.BatchNorm2d(2 * WIDTH)
        self.depthwise2 = nn.Conv2d(
            2 * WIDTH, 2 * WIDTH, kernel_size=3, stride=2, padding=1, groups=2 * WIDTH, bias=False
        )
        self.depthwise2_bn = nn.BatchNorm2d(2 * WIDTH)
        self.pointwise2 = nn.Conv2d(2 * WIDTH, 4 * WIDTH, kernel_size=1, bias=False)
        self.pointwise2_bn = nn.BatchNorm2d(4 * WIDTH)
        self.depthwise3 = nn.Conv2d(
            4 * WIDTH, 4 * WIDTH, kernel_size=3, padding=1, groups=4 * WIDTH, bias=False
        )
        self.depthwise3_bn = nn.BatchNorm2d(4 * WIDTH)
        self.pointwise3 = nn.Conv2d(4 * WIDTH, 4 * WIDTH, kernel_size=1, bias=False)
        self.pointwise3_bn = nn.BatchNorm2d(4 * WIDTH)
        self.depthwise4 = nn.Conv2d(
            4 * WIDTH, 4 * WIDTH, kernel_size=3, stride=2, padding=1, groups=4 * WIDTH, bias=False
        )
        self.depthwise4_bn = nn.BatchNorm2d(4 * WIDTH)
        self.pointwise4 = nn.Conv2d(4 * WIDTH, 8 * WIDTH, kernel_size=1, bias=False)
        self.pointwise4_bn = nn.BatchNorm2d(8 * WIDTH)
        self.depthwise5 = nn.Conv2d(
            8 * WIDTH, 8 * WIDTH, kernel_size=3, padding=1, groups=8 * WIDTH, bias=False
        )
        self.depthwise5_bn = nn.BatchNorm2d(8 * WIDTH)
        self.pointwise5 = nn.Conv2d(8 * WIDTH, 8 * WIDTH, kernel_size=1, bias=False)
        self.pointwise5_bn = nn.BatchNorm2d(8 * WIDTH)
        self.depthwise6 = nn.Conv2d(
            8 * WIDTH, 8 * WIDTH, kernel_size=3, stride=2, padding=1, groups=8 * WIDTH, bias=False
        )
        self.depthwise6_bn = nn.BatchNorm2d(8 * WIDTH)
        self.pointwise6 = nn.Conv2d(8 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False)
        self.pointwise6_bn = nn.BatchNorm2d(16 * WIDTH)
        self.depthwise7 = nn.Conv2d(
            16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False
        )
        self.depthwise7_bn = nn.BatchNorm2d(16 * WIDTH)
        self.pointwise7 = nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False)
        self.pointwise7_bn = nn.BatchNorm2d(16 * WIDTH)
        self.depthwise8 = nn.Conv2d(
            16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False
        )
        self.depthwise8_bn = nn.BatchNorm2d(16 * WIDTH)
        self.pointwise8 = nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False)
        self.pointwise8_bn = nn.BatchNorm2d(16 * WIDTH)
        self.depthwise9 = nn.Conv2d(
            16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False
        )
        self.depthwise9_bn = nn.BatchNorm2d(16 * WIDTH)
        self.pointwise9 = nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False)
        self.pointwise9_bn = nn.BatchNorm2d(16 * WIDTH)
        self.depthwise10 = nn.Conv2d(
            16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False
        )
        self.depthwise10_bn = nn.BatchNorm2d(16 * WIDTH)
        self.pointwise10 = nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False)
        self.pointwise10_bn = nn.BatchNorm2d(16 * WIDTH)
        self.depthwise11 = nn.Conv2d(
            16 * WIDTH, 16 * WIDTH, kernel_size=3, padding=1, groups=16 * WIDTH, bias=False
        )
        self.depthwise11_bn = nn.BatchNorm2d(16 * WIDTH)
        self.pointwise11 = nn.Conv2d(16 * WIDTH, 16 * WIDTH, kernel_size=1, bias=False)
        self.pointwise11_bn = nn.BatchNorm2d(16 * WIDTH)
        self.depthwise12 = nn.Conv2d(
            16 * WIDTH,
            16 * WIDTH,
            kernel_size=3,
            stride=2,
            padding=1,
            groups=16 * WIDTH,
            bias=False,
        )
        self.depthwise12_bn = nn.BatchNorm2d(16 * WIDTH)
        self.pointwise12 = nn.Conv2d(16 * WIDTH, 32 * WIDTH, kernel_size=1, bias=False)
        self.pointwise12_bn = nn.BatchNorm2d(32 * WIDTH)
        self.depthwise13 = nn.Conv2d(
            32 * WIDTH, 32 * WIDTH, kernel_size=3, padding=1, groups=32 * WIDTH, bias=False
        )
        self.depthwise13_bn = nn.BatchNorm2d(32 * WIDTH)
        self.pointwise13 = nn.Conv2d(32 * WIDTH, 32 * WIDTH, kernel_size=1, bias=False)
        self.pointwise13_bn = nn.BatchNorm2d(32 * WIDTH)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(32 * WIDTH, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a score for each class."""
        x = F.relu(self.bn(self.conv(x)))
        x = F.relu(self.depthwise1_bn(self.depthwise1(x)))
        x = F.relu(self.pointwise1_bn(self.pointwise1(x)))
        x = F.relu(self.depthwise2_bn(self.depthwise2(x)))
        x = F.relu(self.pointwise2_bn(self.pointwise2(x)))
        x = F.relu(self.depthwise3_bn(self.depthwise3(x)))
        x = F.relu(self.pointwise3_bn(self.pointwise3(x)))
        x = F.relu(self.depthwise4_bn(self.depthwise4(x)))
        x = F.relu(self.pointwise4_bn(self.pointwise4(x)))
        x = F.relu(self.depthwise5_bn(self.depthwise5(x)))
        x = F.relu(self.pointwise5_bn(self.pointwise5(x)))
        x = F.relu(self.depthwise6_bn(self.depthwise6(x)))
        x = F.relu(self.pointwise6_bn(self.pointwise6(x)))
        x = F.relu(self.depthwise7_bn(self.depthwise7(x)))
        x = F.relu(self.pointwise7_bn(self.pointwise7(x)))
        x = F.relu(self.depthwise8_bn(self.depthwise8(x)))
        x = F.relu(self.pointwise8_bn(self.pointwise8(x)))
        x = F.relu(self.depthwise9_bn(self.depthwise9(x)))
        x = F.relu(self.pointwise9_bn(self.pointwise9(x)))
        x = F.relu(self.depthwise10_bn(self.depthwise10(x)))
        x = F.relu(self.pointwise10_bn(self.pointwise10(x)))
        x = F.relu(self.depthwise11_bn(self.depthwise11(x)))
        x = F.relu(self.pointwise11_bn(self.pointwise11(x)))
        x = F.relu(self.depthwise12_bn(self.depthwise12(x)))
        x = F.relu(self.pointwise12_bn(self.pointwise12(x)))
        x = F.relu(self.depthwise13_bn(self.depthwise13(x)))
        x = F.relu(self.pointwise13_bn(self.pointwise13(x)))
        x = self.pool(x)
        x = torch.flatten(x, 1)
        return self.fc(x)


model = MobileNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.001)

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
