"""Adapter of the clients of cognitive services, which have no API of arrays to test.

What is tested is an application that asks them; its cases run in a process of their own.
Runs in a target's interpreter (Python 3.9 and later, standard library and numpy only).
"""

from __future__ import annotations

import os
import random
from importlib import metadata
from typing import Any, Dict, Iterator, Optional  # noqa: UP035 - Python 3.9 in the target

from ciguard.targets.adapters.contract import Adapter


class ServiceClientAdapter(Adapter):
    """Imports a client, and knows nothing else of it."""

    module = os.environ.get("CIGUARD_SERVICE_CLIENT", "")

    def version(self) -> str:
        """See `Adapter`."""
        return metadata.version(self.module.replace(".", "-"))

    def describe(self) -> Iterator[Dict[str, Any]]:  # noqa: UP006
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

    def read(self, output: Any) -> Optional[Dict[str, Any]]:  # noqa: UP006, UP045
        """See `Adapter`."""
        del output
        return None

    def reset(self, seed: int) -> None:
        """See `Adapter`."""
        random.seed(seed)


ADAPTER = ServiceClientAdapter
