"""Programs as cases, and what workers say of them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed
from ciguard.domain.programs import Ancestry, Derivation, Operator, ProgramCase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STEP = Derivation(
    block="conv2",
    line=5,
    api="torch.nn.Conv2d",
    operator=Operator.GENERATION,
    parameter="stride",
    before="1",
    after="3",
    sentence="stride controls the stride for the cross-correlation.",
)
REPLACED = Derivation(
    block="act",
    line=7,
    api="torch.nn.GELU",
    operator=Operator.REPLACEMENT,
    before="torch.nn.ReLU",
    after="torch.nn.GELU",
)
FORBIDDEN = Derivation(
    block="drop",
    line=5,
    api="torch.nn.Dropout",
    operator=Operator.BOUNDARY,
    parameter="p",
    before="0.5",
    after="1.5",
    sentence="p: probability of an element to be zeroed, between 0 and 1.",
)
SOURCE = """\
import torch
from torch import nn

EPOCHS = 3
model = nn.Sequential(nn.Conv2d(1, 2, 3, stride=3), nn.Flatten(), nn.LazyLinear(2))
for epoch in range(EPOCHS):
    loss = model(torch.ones(4, 1, 8, 8)).sum()
    loss.backward()
"""
BLOCK = """\
import torch

block = torch.nn.Conv2d(1, 2, 3, stride=3)
block(torch.ones(4, 1, 8, 8)).sum().backward()
"""


def positive(*path: Derivation, **settings: Any) -> ProgramCase:
    """Return a case whose program ought to run."""
    given = {"source": SOURCE, "block": BLOCK, **settings}
    steps = path or (STEP,)
    return ProgramCase(
        api=steps[-1].api, ancestry=Ancestry(seed="lenet", path=(REPLACED, *steps)), **given
    )


def negative(*path: Derivation, **settings: Any) -> ProgramCase:
    """Return a case whose block ought to be refused."""
    return positive(*(path or (FORBIDDEN,)), intent=Intent.VIOLATING, **settings)


def array(*shape: int, dtype: str = "float32") -> list[Any]:
    return ["T", dtype, list(shape), _base64(np.zeros(shape, dtype=dtype))]


def _base64(elements: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(elements.tobytes()).decode()


USUAL: Mapping[str, Any] = {"loss": ["f", "0.5"], "predictions": array(4, 2)}


def ran(block: str = "", **outputs: Any) -> Passed:
    """Return the outcome of a program that left these outputs."""
    return _passed({"block": ["s", block], "outputs": _mapping(outputs or USUAL)})


def cycled(memory: Sequence[float] = (), cpu: Sequence[float] = ()) -> Passed:
    """Return the outcome of a program that ran several times: bytes and seconds of each cycle."""
    count = max(len(memory), len(cpu))
    sizes = np.array(memory or [1e8] * count).astype("int64")
    times = np.array(cpu or [0.1] * count)
    parts = {
        "block": ["s", ""],
        "outputs": _mapping(USUAL),
        "memory": ["T", "int64", [count], _base64(sizes)],
        "cpu": ["T", "float64", [count], _base64(times)],
    }
    return _passed(parts)


def _mapping(items: Mapping[str, Any]) -> list[Any]:
    return ["M", "dict", [[key, item] for key, item in items.items()], len(items)]


def _passed(parts: Mapping[str, Any]) -> Passed:
    return Passed(json.dumps(_mapping(parts)).encode(), 0.5)
