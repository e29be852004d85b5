"""Windows over time series, for networks that forecast."""

import numpy as np

from ciguard.annotations import anys, arg, floats, ints, np_arrays, ref, require


@arg("series", np_arrays("float64", (ints(2, 40), ints(1, 3)), min=-100, max=100))
@arg("length", ints(min=1, max=10))
@arg("horizon", ints(min=1, max=5))
@arg("step", ints(min=1, max=6))
@require("length + horizon <= len(series)")
def make_windows(series, length, horizon=1, step=1):
    """Return windows of `length` values and the value `horizon` steps after each."""
    inputs, targets = [], []
    for start in range(0, len(series) - length - horizon + 1, step):
        inputs.append(series[start : start + length])
        targets.append(series[start + length + horizon - 1])
    return np.stack(inputs), np.stack(targets)


@arg("x", np_arrays("float64", (ints(4, 30), ints(1, 4)), min=-10, max=10))
@arg("y", np_arrays("float64", (ref("x.shape[0]"),), min=-10, max=10))
@arg("test_size", anys(ints(min=1, max=3), floats(min=0.1, max=0.9)))
def split_by_time(x, y, test_size=0.2):
    """Split off the last part: a number of samples, or a share of them."""
    if test_size < 1:
        split = int(len(x) * (1 - test_size))
    else:
        split = len(x) - int(test_size)
    return x[:split], x[split:], y[:split], y[split:]


@arg("series", np_arrays("float64", (ints(2, 30),), min=-100, max=100))
@arg("lag", ints(min=1, max=8))
@require("lag < len(series)")
def difference(series, lag=1):
    return series[lag:] - series[:-lag]


@arg("changes", np_arrays("float64", (ints(1, 20),), min=-100, max=100))
@arg("start", np_arrays("float64", (ints(1, 6),), min=-100, max=100))
def undo_difference(changes, start):
    """Invert `difference`, given as many first values as its lag."""
    lag = len(start)
    restored = list(start)
    for index, change in enumerate(changes):
        restored.append(restored[index] + change)
    return np.array(restored[lag:])


@arg("series", np_arrays("float64", (ints(1, 30), ints(1, 3)), min=-100, max=100))
@arg("low", floats(min=-1, max=0))
@arg("high", floats(min=0.5, max=1))
def scale(series, low=0.0, high=1.0):
    """Scale each column to a range; a constant one is set to its lower end."""
    least, most = series.min(axis=0), series.max(axis=0)
    span = np.where(most > least, most - least, 1.0)
    return low + (series - least) / span * (high - low)
