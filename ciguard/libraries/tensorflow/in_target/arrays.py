"""Tensors of TensorFlow for the user's functions."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ciguard.libraries.in_target.arrays import ArrayLibrary


class TensorflowArrays(ArrayLibrary):
    """Eager tensors of TensorFlow."""

    library = "tensorflow"
    roots: tuple[str, ...] = ("tensorflow",)
    array_packages: tuple[str, ...] = ("tensorflow", "keras")
    dtypes = "tensorflow"

    def array(self, elements: Any, dtype: str) -> Any:
        """Return a constant tensor, made from a numpy array."""
        return importlib.import_module("tensorflow").constant(elements, dtype=dtype)

    def seed(self, number: int) -> None:
        """Set TensorFlow's global seed, if TensorFlow is imported."""
        tensorflow = sys.modules.get("tensorflow")
        if tensorflow is not None and hasattr(tensorflow, "random"):
            tensorflow.random.set_seed(number)


ARRAYS = TensorflowArrays()
