"""Adapter of the clients of cognitive services, which have no API of arrays to test.

What is tested is an application that asks them; its cases run in a process of their own.
Runs in a target's interpreter (Python 3.9 and later, standard library and numpy only).
"""

from __future__ import annotations

import contextlib
import importlib
import random
from importlib import metadata
from typing import Any, Dict, Iterator, Optional

from ciguard.libraries.in_target.contract import Adapter

CLIENTS = ("google.cloud.vision", "google.cloud.language", "google.cloud.speech")


class ServiceClientAdapter(Adapter):
    """Imports the clients that are there, and knows nothing else of them."""

    module = "google.cloud"

    def load(self, device: str) -> None:
        """Import them; see `Adapter`."""
        del device
        for name in CLIENTS:
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(name)

    def version(self) -> str:
        """Return that of the first one; see `Adapter`."""
        for name in CLIENTS:
            with contextlib.suppress(metadata.PackageNotFoundError):
                return metadata.version(name.replace(".", "-"))
        return "unknown"

    def describe(self) -> Iterator[Dict[str, Any]]:
        """Yield nothing: no call is made of it alone."""
        return iter(())

    def tensor(self, array: Any, dtype: str) -> Any:
        """See `Adapter`."""
        del array
        msg = f"{self.module} has no tensors, of {dtype} or otherwise"
        raise TypeError(msg)

    def dtype(self, name: str) -> Any:
        """See `Adapter`."""
        raise AttributeError(name)

    def read(self, output: Any) -> Optional[Dict[str, Any]]:
        """See `Adapter`."""
        del output
        return None

    def reset(self, seed: int) -> None:
        """See `Adapter`."""
        random.seed(seed)


ADAPTER = ServiceClientAdapter
