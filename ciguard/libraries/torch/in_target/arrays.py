"""Tensors of PyTorch for the user's functions."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ciguard.libraries.in_target.arrays import ArrayLibrary


class TorchArrays(ArrayLibrary):
    """Tensors of PyTorch on the CPU."""

    library = "torch"
    roots: tuple[str, ...] = ("torch", "torchvision")
    array_packages: tuple[str, ...] = ("torch",)
    dtypes = "torch"
    dtype_class = "dtype"
    usual_dtypes: tuple[str, ...] = ("float32", "int64", "bool", "uint8", "complex64")

    def array(self, elements: Any, dtype: str) -> Any:
        """Return a tensor, made from a numpy array."""
        torch = importlib.import_module("torch")
        return torch.as_tensor(elements).to(getattr(torch, dtype))

    def seed(self, number: int) -> None:
        """Seed the generators of all devices, if torch is imported."""
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "manual_seed"):
            torch.manual_seed(number)


ARRAYS = TorchArrays()
