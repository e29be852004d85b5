"""The adapter. Runs in the target: Python 3.9, numpy."""

from __future__ import annotations

import inspect
import random
from typing import Any, Iterator  # noqa: UP035 - Python 3.9

import numpy as np

from ciguard.libraries.in_target import introspection
from ciguard.libraries.in_target.contract import Adapter
from ciguard.libraries.in_target.tag_names import FILES, RANDOM, TagRow
from ciguard.libraries.in_target.tags import tagger

TAG_ROWS = (
    TagRow(FILES, r"^planted_tiles\.", "read and write files", (r"store$", r"fetch$")),
    TagRow(
        RANDOM, r"^planted_tiles\.", "draw from numpy's generator", (r"noise$|normal$|integers$",)
    ),
)
tags_of = tagger(*TAG_ROWS)


class TilesAdapter(Adapter):
    """Tiles are kept as arrays of numpy."""

    module = "planted_tiles"

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per function, and one per layer."""
        library = self.resolve(self.module)
        functions = [
            (f"{self.module}.{name}", getattr(library, name))
            for name in introspection.public_names(library)
            if inspect.isfunction(getattr(library, name))
        ]
        yield from introspection.each(functions, _function)
        layers = [
            (f"{self.module}.nn.{name}", getattr(library.nn, name)) for name in ("Linear", "ReLU")
        ]
        yield from introspection.each(layers, _layer)

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return a tile."""
        if dtype in ("bfloat16", "string"):
            raise TypeError(dtype)
        return self.resolve(self.module).tile(array, dtype)

    def dtype(self, name: str) -> Any:
        """Return the name, which is what the library takes."""
        if not hasattr(np, name):
            raise AttributeError(name)
        return name

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read a tile."""
        if type(output).__name__ != "Tile":
            return None
        return {"dtype": output.dtype, "array": output.array}

    def reset(self, seed: int) -> None:
        """Seed the generators: the library keeps no other state."""
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002


def _function(api: str, function: Any) -> dict[str, Any]:
    doc = introspection.doc_of(function)
    parameters = introspection.from_signature(function) or []
    introspection.describe_parameters(parameters, doc)
    return introspection.record(
        api, "function", parameters, doc=doc, source="signature", tags=tags_of(api)
    )


def _layer(api: str, layer: Any) -> dict[str, Any]:
    return introspection.layer_record(api, layer, call="forward", tags=tags_of(api))


ADAPTER = TilesAdapter
