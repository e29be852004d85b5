"""Callbacks of Keras: early stopping with the best weights kept, and a log of what was reached."""

import keras
import numpy as np

from ciguard.annotations import (
    anys,
    arg,
    bools,
    cc_example,
    dicts,
    exclude,
    floats,
    froms,
    ints,
    lists,
)

LOGS = dicts(froms(["loss", "accuracy", "val_loss"]), floats(min=0, max=10), min_size=1, max_size=3)


class KeepBest(keras.callbacks.Callback):
    """Stops when a value has not improved for a while."""

    @arg("monitor", froms(["loss", "val_loss"]))
    @arg("patience", ints(min=0, max=3))
    @arg("restore", bools())
    @cc_example(["loss", 1, True])
    @cc_example(["val_loss", 2, False])
    def __init__(self, monitor="val_loss", patience=2, restore=True):
        super().__init__()
        self.monitor = monitor
        self.patience = patience
        self.restore = restore
        self.best = np.inf
        self.best_weights = None
        self.waited = 0
        self.stopped = False

    @arg("epoch", ints(min=0, max=20))
    @arg("logs", anys(None, LOGS))
    def on_epoch_end(self, epoch, logs=None):
        value = logs.get(self.monitor)
        if value is None:
            return
        if value < self.best:
            self.best, self.waited = value, 0
            self.best_weights = self._weights()
            return
        self.waited += 1
        if self.waited > self.patience:
            self._stop()

    @arg("values", lists(floats(min=0, max=5), min_len=1, max_len=8))
    def replay(self, values):
        """Tell after which of these values training would have stopped; -1 if it would not."""
        for epoch, value in enumerate(values):
            self.on_epoch_end(epoch, {self.monitor: value})
            if self.stopped:
                return epoch
        return -1

    @exclude
    def _stop(self):
        self.stopped = True
        if self.restore and self.model is not None:
            self.model.set_weights(self.best_weigths)

    @exclude
    def _weights(self):
        return None if self.model is None else self.model.get_weights()


class History(keras.callbacks.Callback):
    """Remembers each value of each epoch."""

    def __init__(self):
        super().__init__()
        self.values = {}

    @arg("epochs", lists(LOGS, min_len=1, max_len=5))
    @arg("smoothing", floats(min=0, max=0.99))
    def smoothed(self, epochs, smoothing=0.6):
        """Return exponential averages of what such epochs reported."""
        for logs in epochs:
            for name, value in logs.items():
                self.values.setdefault(name, []).append(value)
        averages = {}
        for name, values in self.values.items():
            average = values[0]
            for value in values[1:]:
                average = smoothing * average + (1 - smoothing) * value
            averages[name] = average
        return averages


@arg("units", ints(min=1, max=4))
@arg("values", lists(floats(min=0, max=5), min_len=1, max_len=6))
@arg("patience", ints(min=0, max=2))
def stops_after(units, values, patience=1):
    """Replay values with a model, whose best weights are restored in the end."""
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(units)])
    callback = KeepBest("loss", patience)
    callback.set_model(model)
    return callback.replay(values)
