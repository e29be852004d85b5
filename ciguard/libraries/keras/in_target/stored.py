"""Weights of a layer graph that come from the user's files."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Any, Mapping, Sequence

FOLDERS = "CIGUARD_MODELS"
"""Environment variable with folders of weights as JSON: paths by the names in graphs."""


def load(keras: Any, nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Load the files that the nodes name, and return whether there are any.

    Raises:
        KeyError: if a file does not contain a layer.
        Exception: any exception of Keras or the system, if a file cannot be loaded.
    """
    recipes = [node.get("weights", {}) for node in nodes]
    file_recipes = [recipe for recipe in recipes if recipe.get("file")]
    for recipe in file_recipes:
        arrays(keras, recipe)
    return bool(file_recipes)


def arrays(keras: Any, recipe: Mapping[str, Any]) -> list[Any]:
    """Return the arrays of the layer that a recipe names.

    Raises:
        KeyError: if the file has no such layer.
    """
    file, name = recipe["file"], recipe["stored"]
    path = _path(file)
    weights = _weights_of(keras, path, *_file_version(path))
    if name not in weights:
        msg = f"no layer {name!r} in {os.path.basename(file)}"
        raise KeyError(msg)
    return weights[name]


def _path(file: str) -> str:
    """Return the path of a file on this machine; graphs contain the user's name of its folder."""
    folder, _, name = file.rpartition("/")
    folders = json.loads(os.environ.get(FOLDERS, "{}"))
    return os.path.join(folders.get(folder, folder), name)


def _file_version(file: str) -> tuple[int, int]:
    status = os.stat(file)
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=1)  # every mutant of a model reads the same file
def _weights_of(keras: Any, file: str, _changed_ns: int, _size: int) -> dict[str, list[Any]]:
    """Return the weights of a file by the layer's name, such as `inner/dense` in a nested model."""
    return _weights_by_path(keras.saving.load_model(file, compile=False), "")


def _weights_by_path(model: Any, path: str) -> dict[str, list[Any]]:
    weights: dict[str, list[Any]] = {}
    for layer in model.layers:
        weights[path + layer.name] = layer.get_weights()
        if hasattr(layer, "get_layer"):
            weights.update(_weights_by_path(layer, f"{path}{layer.name}/"))
    return weights
