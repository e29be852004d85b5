"""Arrays of JAX for the user's functions."""

from __future__ import annotations

import importlib
from typing import Any

from ciguard.libraries.in_target.arrays import ArrayLibrary


class JaxArrays(ArrayLibrary):
    """Arrays on the default device."""

    library = "jax"
    roots: tuple[str, ...] = ("jax",)
    array_packages: tuple[str, ...] = ("jax", "jaxlib")
    dtypes = "jax.numpy"

    def array(self, elements: Any, dtype: str) -> Any:
        """Return an array of JAX, made from a numpy array."""
        return importlib.import_module("jax.numpy").asarray(elements, dtype=dtype)


ARRAYS = JaxArrays()
