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
        """Set TensorFlow's global seed, if TensorFlow is imported.

        A program may use `tensorflow.compat.v1` as `tensorflow`, where the function has the name
        `set_random_seed`.
        """
        generators = getattr(sys.modules.get("tensorflow"), "random", None)
        for name in ("set_seed", "set_random_seed"):
            set_seed = getattr(generators, name, None)
            if set_seed is not None:
                set_seed(number)
                return


ARRAYS = TensorflowArrays()
