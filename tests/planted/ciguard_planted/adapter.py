"""The adapter of the planted library. Runs in the target: Python 3.9, numpy."""

from __future__ import annotations

import inspect
import random
from typing import Any, Iterator  # noqa: UP035 - Python 3.9

import numpy as np

from ciguard.targets.adapters.contract import Adapter

_TAGS = {
    "meet": ["debug"],
    "remove": ["files"],
    "read": ["files"],
    "connect": ["network"],
    "close_everything": ["process"],
    "noise": ["random"],
    "worker_pid": ["debug"],
}


class PlantedAdapter(Adapter):
    """Arrays are numpy's own."""

    module = "planted"

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield a record per public function and class."""
        library = self.resolve(self.module)
        for name in sorted(vars(library)):
            found = getattr(library, name)
            if name.startswith("_") or getattr(found, "__module__", "") != self.module:
                continue
            yield {
                "api": "planted." + name,
                "kind": "layer" if inspect.isclass(found) else "function",
                "parameters": [_parameter(p) for p in inspect.signature(found).parameters.values()],
                "doc": inspect.getdoc(found) or "",
                "source": "signature",
                "tags": _TAGS.get(name, []),
            }

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return the array itself."""
        del dtype
        return array

    def dtype(self, name: str) -> Any:
        """Return numpy's dtype."""
        try:
            return np.dtype(name)
        except TypeError as error:
            raise AttributeError(name) from error

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read an array."""
        if isinstance(output, np.ndarray):
            name = "string" if output.dtype.kind in "OSU" else str(output.dtype)
            return {"dtype": name, "array": output}
        return None

    def reset(self, seed: int) -> None:
        """Seed Python's generator, the only state there is."""
        random.seed(seed)


def _parameter(parameter: inspect.Parameter) -> dict[str, Any]:
    has_default = parameter.default is not inspect.Parameter.empty
    return {
        "name": parameter.name,
        "kind": parameter.kind.name.lower(),
        "required": not has_default,
        "default": repr(parameter.default) if has_default else None,
        "annotation": str(parameter.annotation),
    }


ADAPTER = PlantedAdapter
