"""What is compared of a tensor that does not come back whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ciguard.libraries.in_target import contract

SAMPLE = 64
"""Elements that come back, evenly spaced."""


def digest(adapter: contract.Adapter, tensor: Any, most: int = SAMPLE) -> dict[str, Any]:
    """Return what is compared of a tensor that does not come back whole; see `run`."""
    read = adapter.read(tensor)
    if read is None or "array" not in read:
        return {"dtype": "", "note": type(tensor).__name__ if read is None else read["note"]}
    array = read["array"]
    flat = array.reshape(-1)
    found = {
        "shape": list(array.shape),
        "dtype": read["dtype"],
        "sample": np.ascontiguousarray(flat[:: max(1, flat.size // most)][:most]),
        "nan": 0,
        "inf": 0,
        "mean_abs": 0.0,
    }
    if not flat.size or array.dtype.kind not in "fiub":
        return found
    mean = float(np.mean(np.abs(flat), dtype=np.float64))
    if not np.isfinite(mean):
        finite = flat[np.isfinite(flat)]
        found["nan"] = int(np.isnan(flat).sum())
        found["inf"] = int(flat.size - finite.size) - found["nan"]
        mean = float(np.mean(np.abs(finite), dtype=np.float64)) if finite.size else 0.0
    found["mean_abs"] = mean
    return found
