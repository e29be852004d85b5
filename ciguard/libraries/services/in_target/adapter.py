"""Adapter of the clients of cognitive services, which have no API on arrays to test.

Applications that use the clients are tested instead, in separate processes. This module runs in a
target's interpreter (Python 3.9 and later, standard library and numpy only).
"""

from __future__ import annotations

import contextlib
import importlib
import random
from importlib import metadata
from typing import Any, Dict, Iterator, Optional

from ciguard.libraries.in_target.contract import Adapter

CLIENTS = ("google.cloud.vision", "google.cloud.language", "google.cloud.speech")
"""Modules of the clients that are imported if installed."""


class ServiceClientAdapter(Adapter):
    """Adapter that only imports the installed clients."""

    module = "google.cloud"

    def load(self, device: str) -> None:
        """Import the installed clients; see `Adapter`."""
        del device
        for name in CLIENTS:
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(name)

    def version(self) -> str:
        """Return the version of the first installed client; see `Adapter`."""
        for name in CLIENTS:
            with contextlib.suppress(metadata.PackageNotFoundError):
                return metadata.version(name.replace(".", "-"))
        return "unknown"

    def describe(self) -> Iterator[Dict[str, Any]]:
        """Return no records: clients are not tested on their own."""
        return iter(())

    def tensor(self, array: Any, dtype: str) -> Any:
        """Raise an error: clients have no tensors."""
        del array
        msg = f"{self.module} does not support tensors (dtype {dtype})"
        raise TypeError(msg)

    def dtype(self, name: str) -> Any:
        """Raise an error: clients have no dtypes."""
        raise AttributeError(name)

    def read(self, output: Any) -> Optional[Dict[str, Any]]:
        """Return None: clients have no tensors."""
        del output
        return None

    def reset(self, seed: int) -> None:
        """Seed Python's generator."""
        random.seed(seed)


ADAPTER = ServiceClientAdapter
