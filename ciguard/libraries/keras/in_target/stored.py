"""Weights that a layer graph takes from a file of the user's."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Any, Mapping, Sequence

FOLDERS = "CIGUARD_MODELS"
"""Variable that holds the folders of files with weights, by their names in graphs, as JSON."""


def load(keras: Any, nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Read the files that the nodes name; return whether there were any.

    Raises:
        KeyError: if a file has no layer of the name that is asked for.
        Exception: whatever Keras or the system raises for a file that cannot be loaded.
    """
    recipes = [node.get("weights", {}) for node in nodes]
    wanted = [recipe for recipe in recipes if recipe.get("file")]
    for recipe in wanted:
        arrays(keras, recipe)
    return bool(wanted)


def arrays(keras: Any, recipe: Mapping[str, Any]) -> list[Any]:
    """Return the arrays of the layer that a recipe names.

    Raises:
        KeyError: if the file has no such layer.
    """
    file, name = recipe["file"], recipe["stored"]
    path = _path(file)
    found = _weights_of(keras, path, *_state(path))
    if name not in found:
        msg = f"no layer {name!r} in {os.path.basename(file)}"
        raise KeyError(msg)
    return found[name]


def _path(file: str) -> str:
    """Return where a file is here. Graphs name its folder as the user does, not where that is."""
    folder, _, name = file.rpartition("/")
    folders = json.loads(os.environ.get(FOLDERS, "{}"))
    return os.path.join(folders.get(folder, folder), name)


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
