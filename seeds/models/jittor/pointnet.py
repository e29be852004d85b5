"""PointNet takes the days before as a cloud of points and tells the next closing price.

Qi, Su, Mo, Guibas: PointNet: Deep learning on point sets for 3D classification and segmentation,
2017. Here a point is a day: the lowest, the highest and the closing price of a share.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
DAYS = 22
PRICES = 3
WIDTH = 8  # 64 in the paper

jt.set_global_seed(0)
rng = np.random.RandomState(0)
closing = 1 + 0.01 * rng.randn(SAMPLES + TESTS + DAYS).cumsum()
spread = 0.01 * rng.rand(2, closing.size)
days = np.stack([closing - spread[0], closing + spread[1], closing]).astype("float32")
months = np.stack([days[:, first : first + DAYS] for first in range(SAMPLES + TESTS)])
following = days[2:, DAYS:].T
clouds, test_clouds = jt.array(months[:SAMPLES]), jt.array(months[SAMPLES:])
prices, test_prices = jt.array(following[:SAMPLES]), jt.array(following[SAMPLES:])


class Transform(nn.Module):
    """Predicts a matrix for each cloud, close to the identity at first, and applies it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.points = nn.Sequential(
            nn.Conv1d(channels, WIDTH, kernel_size=1),
            nn.BatchNorm1d(WIDTH),
            nn.ReLU(),
            nn.Conv1d(WIDTH, 2 * WIDTH, kernel_size=1),
            nn.BatchNorm1d(2 * WIDTH),
            nn.ReLU(),
            nn.Conv1d(2 * WIDTH, 16 * WIDTH, kernel_size=1),
            nn.BatchNorm1d(16 * WIDTH),
            nn.ReLU(),
        )
        self.cloud = nn.Sequential(
            nn.Linear(16 * WIDTH, 8 * WIDTH),
            nn.BatchNorm1d(8 * WIDTH),
            nn.ReLU(),
            nn.Linear(8 * WIDTH, 4 * WIDTH),
            nn.BatchNorm1d(4 * WIDTH),
            nn.ReLU(),
            nn.Linear(4 * WIDTH, channels * channels),
        )

    def execute(self, x: jt.Var) -> jt.Var:
        """Return points of the same shape."""
        pooled = jt.max(self.points(x), dim=2)
        matrix = self.cloud(pooled).reshape(-1, self.channels, self.channels)
        return nn.bmm(matrix + jt.init.eye((self.channels, self.channels)), x)


class PointNet(nn.Module):
    """Layers that see one point at a time, a maximum over all points, dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.transform1 = Transform(PRICES)
        self.conv1 = nn.Conv1d(PRICES, WIDTH, kernel_size=1)
        self.bn1 = nn.BatchNorm1d(WIDTH)
        self.conv2 = nn.Conv1d(WIDTH, WIDTH, kernel_size=1)
        self.bn2 = nn.BatchNorm1d(WIDTH)
        self.transform2 = Transform(WIDTH)
        self.conv3 = nn.Conv1d(WIDTH, WIDTH, kernel_size=1)
        self.bn3 = nn.BatchNorm1d(WIDTH)
        self.conv4 = nn.Conv1d(WIDTH, 2 * WIDTH, kernel_size=1)
        self.bn4 = nn.BatchNorm1d(2 * WIDTH)
        self.conv5 = nn.Conv1d(2 * WIDTH, 16 * WIDTH, kernel_size=1)
        self.bn5 = nn.BatchNorm1d(16 * WIDTH)
        self.fc1 = nn.Linear(16 * WIDTH, 8 * WIDTH)
        self.bn6 = nn.BatchNorm1d(8 * WIDTH)
        self.fc2 = nn.Linear(8 * WIDTH, 4 * WIDTH)
        self.dropout = nn.Dropout(p=0.3)
        self.bn7 = nn.BatchNorm1d(4 * WIDTH)
        self.fc3 = nn.Linear(4 * WIDTH, 1)

    def execute(self, x: jt.Var) -> jt.Var:
        """Return the price that follows each cloud."""
        x = self.transform1(x)
        x = nn.relu(self.bn1(self.conv1(x)))
        x = nn.relu(self.bn2(self.conv2(x)))
        x = self.transform2(x)
        x = nn.relu(self.bn3(self.conv3(x)))
        x = nn.relu(self.bn4(self.conv4(x)))
        x = nn.relu(self.bn5(self.conv5(x)))
        x = jt.max(x, dim=2)
        x = nn.relu(self.bn6(self.fc1(x)))
        x = nn.relu(self.bn7(self.dropout(self.fc2(x))))
        return self.fc3(x)


model = PointNet()
optimizer = nn.Adam(model.parameters(), lr=0.001)

model.train()
for start in range(0, SAMPLES, BATCH):
    answers = model(clouds[start : start + BATCH])
    step_loss = nn.mse_loss(answers, prices[start : start + BATCH])
    optimizer.step(step_loss)
loss = step_loss.item()

model.eval()
with jt.no_grad():
    predictions = model(test_clouds)
error = jt.abs(predictions - test_prices).mean().item()

print(f"loss {loss:.4f}, mean absolute error {error:.4f}")
