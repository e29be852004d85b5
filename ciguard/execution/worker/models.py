"""Cases of level `model`: their data, and their outputs as text.

Outputs are compared element by element, so arrays up to 3 MB are returned whole. If the record is
too small for that, only arrays of the usual size are.
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
"""Maximum number of layers and of gradients that are returned."""
MAX_WHOLE_BYTES = 3_000_000
"""Maximum size of an array that is returned whole; base64 makes it a third longer."""


def prepare(case: dict[str, Any]) -> ModelRun:
    """Return the data and weights of a case.

    Args:
        case: third member of the JSON form of a `ciguard.domain.models.ModelCase`.

    Raises:
        KeyError: if it names an unknown kind of data.
    """
    data = [_array(encoded) for encoded in case.get("data", ())]
    return ModelRun(case, data, _array(case["truth"]), layer_weights.arrays)


def _array(encoded: list[Any]) -> Any:
    if encoded[0] == "sample":
        return sample(*encoded[1:])
    _, dtype, shape, fill = encoded
    return elements(fill, dtype, shape)


def encode(output: Any, adapter: Any) -> bytes:
    """Return the output of a model's run as text that fits into a record."""
    text = _text(output, adapter, MAX_WHOLE_BYTES)
    return text if len(text) <= cells.ROOM else _text(output, adapter, WHOLE_BYTES)


def _text(output: Any, adapter: Any, whole_bytes: int) -> bytes:
    return Summariser(adapter, max_items=MAX_NODES, whole_bytes=whole_bytes).encode(output)
