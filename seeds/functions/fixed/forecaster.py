"""A recurrent network that continues a series."""

import torch
from torch import nn

from ciguard.annotations import anys, arg, bools, floats, froms, ints, np_arrays, require


class Forecaster(nn.Module):
    def __init__(self, features, hidden, layers=1, bidirectional=False, cell="lstm", dropout=0.0):
        super().__init__()
        kind = nn.LSTM if cell == "lstm" else nn.GRU
        self.recurrent = kind(
            features,
            hidden,
            num_layers=layers,
            bidirectional=bidirectional,
            dropout=dropout if layers > 1 else 0.0,
            batch_first=True,
        )
        self.hidden = hidden
        self.layers = layers
        self.directions = 2 if bidirectional else 1
        self.head = nn.Linear(hidden * self.directions, features)

    def start(self, batch, cell):
        zeros = torch.zeros(self.layers * self.directions, batch, self.hidden)
        return (zeros, zeros.clone()) if cell == "lstm" else zeros

    def forward(self, x, state=None):
        states, state = self.recurrent(x, state)
        return self.head(states[:, -1]), state


@arg("features", ints(min=1, max=4))
@arg("hidden", ints(min=1, max=8))
@arg("layers", ints(min=1, max=2))
@arg("bidirectional", bools())
@arg("cell", froms(["lstm", "gru"]))
@arg("dropout", floats(min=0, max=0.9))
@arg("batch", ints(min=1, max=3))
@arg("stateful", bools())
def predict_next(
    features,
    hidden,
    layers=1,
    bidirectional=False,
    cell="lstm",
    dropout=0.0,
    batch=2,
    stateful=True,
):
    """Build a network and return its first forecast, (batch, features)."""
    model = Forecaster(features, hidden, layers, bidirectional, cell, dropout)
    x = torch.ones(batch, 5, features)
    state = model.start(batch, cell) if stateful else None
    forecast, _ = model(x, state)
    return forecast


@arg("series", np_arrays("float32", (ints(2, 12), 1), min=-1, max=1))
@arg("steps", ints(min=0, max=5))
@arg("keep", anys(None, ints(min=1, max=12)))
@require("keep is None or keep <= len(series)")
def roll_out(series, steps=1, keep=None):
    """Forecast several steps, each from what came before it, (steps, 1)."""
    model = Forecaster(1, 4)
    x = torch.from_numpy(series).unsqueeze(0)
    forecasts = []
    with torch.no_grad():
        for _ in range(steps):
            forecast, _ = model(x if keep is None else x[:, -keep:])
            forecasts.append(forecast)
            x = torch.cat([x, forecast.unsqueeze(1)], dim=1)
    return torch.cat(forecasts) if forecasts else torch.zeros(0, 1)
