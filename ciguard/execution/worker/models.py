"""Cases of level `model`: their data, and their outputs as text.

What is compared element by element comes back whole: up to 3 MB per array where one record holds
that, else what fits as any other output is kept.
"""

from __future__ import annotations

from typing import Any

from ciguard.execution.worker import cell as cells
from ciguard.execution.worker import layer_weights
from ciguard.execution.worker.fills import elements
from ciguard.execution.worker.samples import sample
from ciguard.execution.worker.summarise import WHOLE_BYTES, Summariser
from ciguard.libraries.in_target.contract import ModelRun

MAX_NODES = 4096
"""Layers, and gradients, of one model that come back."""
WHOLE_OF_A_MODEL = 3_000_000
"""Four thirds of it, as text, still leave room for what is said of the layers."""


def prepare(case: dict[str, Any]) -> ModelRun:
    """Make the data of a case.

    Args:
        case: third member of the JSON form of a `ciguard.domain.models.ModelCase`.

    Raises:
        KeyError: if it names data that there is not.
    """
    data = [_array(encoded) for encoded in case.get("data", ())]
    return ModelRun(case, data, _array(case["truth"]), layer_weights.arrays)


def _array(encoded: list[Any]) -> Any:
    if encoded[0] == "sample":
        return sample(*encoded[1:])
    _, dtype, shape, fill = encoded
    return elements(fill, dtype, shape)


def encode(output: Any, adapter: Any) -> bytes:
    """Return the text of what a model's run came to, short enough for a record."""
    text = _text(output, adapter, WHOLE_OF_A_MODEL)
    return text if len(text) <= cells.ROOM else _text(output, adapter, WHOLE_BYTES)


def _text(output: Any, adapter: Any, whole_bytes: int) -> bytes:
    return Summariser(adapter, most_items=MAX_NODES, whole_bytes=whole_bytes).encode(output)
