"""Learning rates that change while a network is trained."""

import math

from ciguard.annotations import anys, arg, dicts, floats, froms, ints, lists, require


@arg("epoch", ints(min=0, max=30))
@arg("epochs", ints(min=1, max=30))
@arg("warmup", ints(min=0, max=10))
@arg("peak", floats(min=1e-4, max=1.0))
@arg("floor", floats(min=0, max=1e-5))
@require("epoch <= epochs and warmup <= epochs")
def cosine(epoch, epochs, warmup=0, peak=0.1, floor=0.0):
    """Rise to the peak in `warmup` epochs, then fall to the floor."""
    if epoch == warmup == epochs:
        return peak
    if epoch < warmup:
        return peak * (epoch + 1) / warmup
    progress = (epoch - warmup) / (epochs - warmup)
    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * progress))


@arg("epoch", ints(min=0, max=100))
@arg("rates", dicts(ints(min=0, max=60), floats(min=1e-5, max=1.0), min_size=1, max_size=4))
@arg("initial", floats(min=1e-5, max=1.0))
def piecewise(epoch, rates, initial=0.1):
    """Use the rate of the last milestone that was reached, before the first of them `initial`."""
    rate = initial
    for milestone in sorted(rates):
        if epoch >= milestone:
            rate = rates[milestone]
    return rate


@arg("losses", lists(floats(min=0, max=10), min_len=1, max_len=12))
@arg("rate", floats(min=1e-3, max=1.0))
@arg("factor", floats(min=0.1, max=0.9))
@arg("patience", ints(min=1, max=4))
@arg("mode", froms(["min", "max"]))
def on_plateau(losses, rate=0.1, factor=0.5, patience=2, mode="min"):
    """Lower the rate each time that nothing has improved for `patience` epochs."""
    best, waited = losses[0], 0
    for loss in losses[1:]:
        improved = loss < best if mode == "min" else loss > best
        if improved:
            best, waited = loss, 0
            continue
        waited += 1
        if waited >= patience:
            rate, waited = rate * factor, 0
    return rate


@arg("step", ints(min=0, max=2000))
@arg("base", floats(min=1e-4, max=0.1))
@arg("top", floats(min=0.1, max=1.0))
@arg("half_cycle", ints(min=1, max=500))
@arg("decay", anys(None, floats(min=0.5, max=1.0)))
def cyclic(step, base=0.001, top=0.1, half_cycle=100, decay=None):
    """Rise and fall between two rates; with `decay`, less high in each cycle."""
    cycle = step // (2 * half_cycle)
    position = abs(step / half_cycle - 2 * cycle - 1)
    height = (top - base) * (1 - position)
    if decay is not None:
        height *= decay**cycle
    return base + height
