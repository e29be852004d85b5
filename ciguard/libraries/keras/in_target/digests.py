"""Digests of tensors that are too large to be compared: a sample of elements and statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ciguard.libraries.in_target import contract

SAMPLE_SIZE = 64
"""Default number of evenly spaced elements in a sample."""


def digest(
    adapter: contract.Adapter, tensor: Any, sample_size: int = SAMPLE_SIZE
) -> dict[str, Any]:
    """Return shape, dtype, sample and statistics of a tensor; see `models.run` for the format."""
    contents = adapter.read(tensor)
    if contents is None or "array" not in contents:
        return {
            "dtype": "",
            "note": type(tensor).__name__ if contents is None else contents["note"],
        }
    array = contents["array"]
    flat = array.reshape(-1)
    summary = {
        "shape": list(array.shape),
        "dtype": contents["dtype"],
        "sample": np.ascontiguousarray(flat[:: max(1, flat.size // sample_size)][:sample_size]),
        "nan": 0,
        "inf": 0,
        "mean_abs": 0.0,
    }
    if not flat.size or array.dtype.kind not in "fiub":
        return summary
    mean = float(np.mean(np.abs(flat), dtype=np.float64))
    if not np.isfinite(mean):
        finite = flat[np.isfinite(flat)]
        summary["nan"] = int(np.isnan(flat).sum())
        summary["inf"] = int(flat.size - finite.size) - summary["nan"]
        mean = float(np.mean(np.abs(finite), dtype=np.float64)) if finite.size else 0.0
    summary["mean_abs"] = mean
    return summary
