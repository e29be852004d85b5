"""Two stacked LSTM layers tell the next closing price of a share.

Hochreiter, Schmidhuber: Long short-term memory, 1997.
"""

import jittor as jt
import numpy as np
from jittor import nn

SAMPLES = 100
TESTS = 20
BATCH = 25
DAYS = 10
UNITS = 16

jt.set_global_seed(0)
rng = np.random.RandomState(0)
closing = (1 + 0.01 * rng.randn(SAMPLES + TESTS + DAYS).cumsum()).astype("float32")
windows = np.stack([closing[first : first + DAYS] for first in range(SAMPLES + TESTS)])
following = closing[DAYS:]
series = jt.array(windows[:SAMPLES, :, np.newaxis])
prices = jt.array(following[:SAMPLES, np.newaxis])
test_series = jt.array(windows[SAMPLES:, :, np.newaxis])
test_prices = jt.array(following[SAMPLES:, np.newaxis])


class Forecast(nn.Module):
    """Reads a series day by day and answers after the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm1 = nn.LSTM(input_size=1, hidden_size=UNITS, batch_first=True)
        self.dropout1 = nn.Dropout(p=0.2)
        self.lstm2 = nn.LSTM(input_size=UNITS, hidden_size=UNITS, batch_first=True)
        self.dropout2 = nn.Dropout(p=0.2)
        self.fc = nn.Linear(UNITS, 1)

    def execute(self, x: jt.Var) -> jt.Var:
        """Return the price that follows each series."""
        x, _ = self.lstm1(x)
        x = self.dropout1(x)
        x, _ = self.lstm2(x)
        x = self.dropout2(x)
        return self.fc(x[:, -1])


model = Forecast()
optimizer = nn.Adam(model.parameters(), lr=0.01)

model.train()
for start in range(0, SAMPLES, BATCH):
    answers = model(series[start : start + BATCH])
    step_loss = nn.mse_loss(answers, prices[start : start + BATCH])
    optimizer.step(step_loss)
loss = step_loss.item()

model.eval()
with jt.no_grad():
    predictions = model(test_series)
error = jt.abs(predictions - test_prices).mean().item()

print(f"loss {loss:.4f}, mean absolute error {error:.4f}")
