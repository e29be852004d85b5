"""Weights that a layer graph takes from a file of the user's."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Mapping, Sequence  # noqa: UP035 - Python 3.9 in the target


def load(keras: Any, nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Read the files that the nodes name; tell whether there were any.

    Raises:
        Exception: whatever Keras or the system raises for a file that cannot be loaded.
    """
    recipes = [node.get("weights", {}) for node in nodes]
    files = {recipe["file"] for recipe in recipes if recipe.get("file")}
    for file in files:
        _weights_of(keras, file, *_state(file))
    return bool(files)


def arrays(keras: Any, recipe: Mapping[str, Any]) -> list[Any]:
    """Return the arrays of the layer that a recipe names.

    Raises:
        KeyError: if the file has no such layer.
    """
    file = recipe["file"]
    found: list[Any] = _weights_of(keras, file, *_state(file))[recipe["stored"]]
    return found


def _state(file: str) -> tuple[int, int]:
    about = os.stat(file)
    return about.st_mtime_ns, about.st_size


@lru_cache(maxsize=1)  # every mutant of a model reads the same file
def _weights_of(keras: Any, file: str, _changed_ns: int, _size: int) -> dict[str, list[Any]]:
    """Return the weights of every layer in a file, by its name: `inner/dense` in a nested model."""
    return _by_path(keras.saving.load_model(file, compile=False), "")


def _by_path(model: Any, path: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for layer in model.layers:
        found[path + layer.name] = layer.get_weights()
        if hasattr(layer, "get_layer"):
            found.update(_by_path(layer, f"{path}{layer.name}/"))
    return found
