"""Tensors (`Var`) of Jittor for the user's functions."""

from __future__ import annotations

import importlib
from typing import Any

from ciguard.libraries.in_target.arrays import ArrayLibrary


class JittorArrays(ArrayLibrary):
    """Tensors (`Var`) of Jittor, which are computed when they are read."""

    library = "jittor"
    roots: tuple[str, ...] = ("jittor",)
    array_packages: tuple[str, ...] = ("jittor", "jittor_core")
    dtypes = "jittor"

    def array(self, elements: Any, dtype: str) -> Any:
        """Return a `Var`, made from a numpy array."""
        return importlib.import_module("jittor").array(elements, dtype=dtype)


ARRAYS = JittorArrays()
