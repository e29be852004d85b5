"""Two stacked LSTM layers tell the next closing price of a share.

Hochreiter, Schmidhuber: Long short-term memory, 1997.
"""

import numpy as np
import torch
from torch import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
DAYS = 10
UNITS = 16

torch.manual_seed(0)
rng = np.random.RandomState(0)
closing = (1 + 0.01 * rng.randn(SAMPLES + TESTS + DAYS).cumsum()).astype("float32")
windows = np.stack([closing[first : first + DAYS] for first in range(SAMPLES + TESTS)])
following = closing[DAYS:]
series = torch.from_numpy(windows[:SAMPLES, :, np.newaxis])
prices = torch.from_numpy(following[:SAMPLES, np.newaxis])
test_series = torch.from_numpy(windows[SAMPLES:, :, np.newaxis])
test_prices = torch.from_numpy(following[SAMPLES:, np.newaxis])


class Forecast(nn.Module):
    """Reads a series day by day and answers after the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm1 = nn.LSTM(input_size=1, hidden_size=UNITS, batch_first=True)
        self.dropout1 = nn.Dropout(p=0.2)
        self.lstm2 = nn.LSTM(input_size=UNITS, hidden_size=UNITS, batch_first=True)
        self.dropout2 = nn.Dropout(p=0.2)
        self.fc = nn.Linear(UNITS, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the price that follows each series."""
        x, _ = self.lstm1(x)
        x = self.dropout1(x)
        x, _ = self.lstm2(x)
        x = self.dropout2(x)
        return self.fc(x[:, -1])


model = Forecast()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

model.train()
for start in range(0, SAMPLES, BATCH):
    optimizer.zero_grad()
    step_loss = criterion(model(series[start : start + BATCH]), prices[start : start + BATCH])
    step_loss.backward()
    optimizer.step()
loss = step_loss.item()

model.eval()
with torch.no_grad():
    predictions = model(test_series)
error = (predictions - test_prices).abs().mean().item()

print(f"loss {loss:.4f}, mean absolute error {error:.4f}")
