"""Runs in a Keras target: builds the graphs of a file, and compares the shapes that come out.

    python layer_probe.py GRAPHS.json

Prints one JSON object: `wrong`, a text per graph, empty where every layer gives the shape that its
node names; `public`, the names of each public class of layers.
"""

# ruff: noqa: B905, T201 - runs on any Python that a target has, and prints its answer

from __future__ import annotations

import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np

INPUT = "keras.Input"
BATCH = 2


def built(nested: dict[str, Any]) -> Any:
    """Build a layer from its public name and arguments, wrapped layers included."""
    arguments = {name: resolved(value) for name, value in nested["config"].items()}
    return getattr(keras.layers, nested["layer"].rsplit(".", 1)[-1])(**arguments)


def resolved(value: Any) -> Any:
    """Build what is a layer in an argument."""
    if isinstance(value, list):
        return [resolved(item) for item in value]
    return built(value) if isinstance(value, dict) and "layer" in value else value


def wrong(graph: dict[str, Any]) -> str:
    """Return what differs between a graph's shapes and those that Keras makes."""
    tensors: dict[str, Any] = {}
    layers: dict[str, Any] = {}
    found = []
    for node in graph["nodes"]:
        shape, name = tuple(node["shape"]), node["name"]
        if node["layer"] == INPUT:
            tensors[name] = keras.Input(shape, name=name, dtype=node.get("dtype", "float32"))
            continue
        layer = layers.get(node.get("shares")) or built({"config": {}, **node})
        layers[name] = layer
        given = [tensors[i] for i in node["inputs"]]
        is_list = node.get("as_list", False)
        tensors[name] = layer(given) if is_list else layer(*given)
        symbolic = tuple(tensors[name].shape)[1:]
        if symbolic != shape:
            found.append(f"{name}: Keras says {symbolic}, the node {shape}")
    inputs = [tensors[node["name"]] for node in graph["nodes"] if node["layer"] == INPUT]
    outputs = [node["name"] for node in graph["nodes"]]
    model = keras.Model(inputs, [tensors[name] for name in outputs])
    rng = np.random.default_rng(0)
    data = [fed(rng, node) for node in graph["nodes"] if node["layer"] == INPUT]
    for node, value in zip(graph["nodes"], model(data, training=False)):
        if tuple(value.shape)[1:] != tuple(node["shape"]):
            found.append(f"{node['name']}: computed {tuple(value.shape)[1:]}, not {node['shape']}")
    return "; ".join(found)


def fed(rng: np.random.Generator, node: dict[str, Any]) -> Any:
    """Return data for an input."""
    shape = (BATCH, *node["shape"])
    if node.get("dtype", "float32") == "float32":
        return rng.random(shape, dtype="float32")
    return rng.integers(0, 8, shape).astype(node["dtype"])


def answer(graph: dict[str, Any]) -> str:
    """Return what is wrong with a graph on one line."""
    try:
        return wrong(graph)
    except Exception as error:  # noqa: BLE001 - whatever Keras raises is the answer
        return " ".join(f"{type(error).__name__}: {error}".split())[:300] or "?"


def public() -> list[list[str]]:
    """Return the public names of each class of layers."""
    found: dict[type, list[str]] = {}
    for name in dir(keras.layers):
        made = getattr(keras.layers, name)
        if inspect.isclass(made) and issubclass(made, keras.layers.Layer):
            found.setdefault(made, []).append(name)
    return list(found.values())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    graphs = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps({"wrong": [answer(graph) for graph in graphs], "public": public()}))
