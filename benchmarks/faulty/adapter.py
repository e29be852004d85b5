"""The adapter of the library with known faults. Runs in the target: Python 3.9, numpy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ciguard.libraries.in_target.contract import ERRORED, Adapter


class FaultyAdapter(Adapter):
    """Arrays are numpy's own."""

    module = "faulty"

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return the array itself."""
        del dtype
        return array

    def dtype(self, name: str) -> Any:
        """Return numpy's dtype."""
        return np.dtype(name)

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read an array."""
        if isinstance(output, (np.ndarray, np.generic)):
            return {"dtype": str(output.dtype), "array": np.asarray(output)}
        return None

    def reset(self, seed: int) -> None:
        """Seed Python's generator, the only state there is."""
        random.seed(seed)

    def classify(self, error: BaseException) -> str:
        """Call a failed assertion of the library internal."""
        return ERRORED if "INTERNAL ASSERT" in str(error) else super().classify(error)


ADAPTER = FaultyAdapter
