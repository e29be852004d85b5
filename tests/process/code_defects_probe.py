"""Plants the defects of programs into torch and tells what they do. Runs in an environment."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, Callable  # noqa: UP035 - Python 3.9 in the target

sys.path.insert(0, sys.argv[1])
door: Any = importlib.import_module("code_defects")
GROUP = next(group for group in door.GROUPS if group.name == sys.argv[2])
if len(sys.argv) == 3:
    os.environ["CODE_DEFECTS"] = ",".join(defect.name for defect in GROUP.defects)
    importlib.import_module("code_defects.hook")  # what code_defects.pth does

torch: Any = importlib.import_module("torch")
L: Any = torch.nn
IMAGES, STEPS = torch.ones(2, 4, 6, 6), torch.ones(2, 4, 6)


def twice(layer: Any) -> None:
    """Call a layer again."""
    layer(STEPS)
    layer(STEPS)


def evaluated(layer: Any) -> None:
    """Call a layer in training, and after it in evaluation."""
    layer(STEPS)
    layer.eval()
    layer(STEPS)


def untracked(layer: Any) -> None:
    """Call a layer with gradients, and after that without."""
    layer(STEPS)
    with torch.no_grad():
        layer(STEPS)


def trained(layer: Any) -> None:
    """Train three times."""
    for _ in range(3):
        layer(STEPS.clone().requires_grad_()).sum().backward()


def other_batch(layer: Any) -> None:
    """Call a layer with another size of batch."""
    layer(STEPS)
    layer(STEPS[:1])


CALLS: dict[str, Callable[[], Any]] = {
    "conv2d-mode": lambda: L.Conv2d(4, 2, 3, padding_mode="other"),
    "conv1d-mode": lambda: L.Conv1d(4, 2, 3, padding_mode="other"),
    "transpose1d": lambda: L.ConvTranspose1d(4, 2, 3, padding_mode="other"),
    "transpose2d": lambda: L.ConvTranspose2d(4, 2, 3, padding_mode="other"),
    "lazy-mode": lambda: L.LazyConv2d(2, 3, padding_mode="other"),
    "pool-kernel": lambda: L.MaxPool1d(0, stride=1)(STEPS),
    "pool-stride": lambda: L.MaxPool1d(2, stride=-1)(STEPS),
    "pool-padding": lambda: L.MaxPool1d(2, padding=-1)(STEPS),
    "pool-dilation": lambda: L.MaxPool1d(2, dilation=0)(STEPS),
    "cell-text": lambda: L.RNNCell(6, 3, nonlinearity="other")(STEPS[0]),
    "encoder": lambda: L.TransformerEncoderLayer(6, 2, activation="other"),
    "elu-second-call": lambda: twice(L.ELU()),
    "norm-evaluation": lambda: evaluated(L.InstanceNorm1d(4)),
    "tanh-no-grad": lambda: untracked(L.Hardtanh()),
    "leaky-evaluation": lambda: evaluated(L.LeakyReLU()),
    "silu-third-pass": lambda: trained(L.SiLU()),
    "threshold-shape": lambda: other_batch(L.Threshold(0.1, 1.0)),
    "conv1d-sample": lambda: L.Conv1d(4, 2, 3)(STEPS[0]).shape,
    "conv2d-sample": lambda: L.Conv2d(4, 2, 3)(IMAGES[0]).shape,
    "average-none": lambda: L.AvgPool2d(2),
    "average-ceil": lambda: L.AvgPool2d(2, ceil_mode=True),
    "conv1d-dilation": lambda: L.Conv1d(4, 2, 3, dilation=2),
    "conv2d-circular": lambda: L.Conv2d(4, 2, 3, padding_mode="circular"),
    "linear-bias": lambda: L.Linear(6, 2, bias=False),
    "norm-affine": lambda: L.BatchNorm1d(4, affine=False),
    "norm-momentum": lambda: L.BatchNorm1d(4, momentum=None),
    "dropout-much": lambda: L.Dropout(0.7),
    "average-padding": lambda: L.AvgPool2d(2, padding=1)(IMAGES).shape,
    "conv1d-stride": lambda: L.Conv1d(4, 2, 3, stride=2)(STEPS).shape,
    "transpose-padding": lambda: L.ConvTranspose2d(4, 2, 3, padding=1)(IMAGES).shape,
    "sigmoid-type": lambda: L.Hardsigmoid()(STEPS).dtype,
    "group-batch": lambda: other_batch(L.GroupNorm(2, 4)),
}
"""What shows a defect; leaks show in nothing that is returned."""
USUAL: list[Callable[[], Any]] = [
    lambda: L.Conv2d(4, 2, 3, padding_mode="reflect", padding=1)(IMAGES).shape,
    lambda: L.MaxPool1d(2, stride=1, padding=1)(STEPS).shape,
    lambda: L.RNNCell(6, 3, nonlinearity="relu")(STEPS[0]).shape,
    lambda: L.AvgPool2d(2, stride=1)(IMAGES).shape,
    lambda: L.ELU()(STEPS).dtype,
    lambda: L.CELU()(STEPS).dtype,
    lambda: L.ReLU6()(STEPS).shape,
    lambda: trained(L.Mish()),
    lambda: L.LazyConv2d(2, 3)(IMAGES).shape,
]


def ending(call: Callable[[], Any]) -> str:
    """Return what a call comes to."""
    try:
        came = call()
    except Exception as error:  # noqa: BLE001 - whatever a defect raises is looked at
        return type(error).__name__
    return "built" if isinstance(came, L.Module) else repr(came)


kept: Any = sys.modules.get("code_defects.running")
usual = [ending(call) for call in USUAL]
shows = {one.name: ending(CALLS[one.name]) for one in GROUP.defects if one.name in CALLS}
leaked = len(vars(kept)["_KEPT"]) if kept else 0
sys.stdout.write(json.dumps({"shows": shows, "usual": usual, "leaked": leaked}) + "\n")
