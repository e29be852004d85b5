"""The yardstick of level `model`: plain Keras builds each graph as a `keras.Model` and calls it.

Runs in the target: `python keras_graphs.py CASES WARM-UP`. CASES has one encoded case per line; the
first WARM-UP of them are not counted. Prints CPU seconds and models of two rounds: in the second,
whatever the backend compiles for a shape has been compiled.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any, Sequence  # noqa: UP035 - Python 3.9 in the target

import keras
import numpy as np

INPUT = "keras.Input"


def built(graph: dict[str, Any]) -> Any:
    """Return the functional model of a graph, with weights as Keras draws them."""
    values: dict[str, Any] = {}
    layers: dict[str, Any] = {}
    inputs = []
    for node in graph["nodes"]:
        name = node["name"]
        if node["layer"] == INPUT:
            dtype = node.get("dtype", "float32")
            values[name] = keras.Input(tuple(node["shape"]), dtype=dtype, name=name)
            inputs.append(values[name])
            continue
        owner = node.get("shares") or name
        if owner not in layers:
            layers[owner] = made(node, name=name)
        given = [values[each] for each in node["inputs"]]
        output = layers[owner](given) if node.get("as_list") else layers[owner](*given)
        values[name] = output[0] if isinstance(output, (list, tuple)) else output
    return keras.Model(inputs, [values[name] for name in graph["outputs"]])


def made(node: dict[str, Any], **own: Any) -> Any:
    """Return the layer that a node describes, and in it the layers that it wraps."""
    config = {key: unwrapped(item) for key, item in node.get("config", {}).items()}
    return getattr(keras.layers, node["layer"].rpartition(".")[2])(**config, **own)


def unwrapped(item: Any) -> Any:
    """Return an argument of a layer."""
    if isinstance(item, dict) and "layer" in item:
        return made(item)
    return [unwrapped(each) for each in item] if isinstance(item, list) else item


def fed(case: dict[str, Any]) -> list[Any]:
    """Return numbers of the shapes that the inputs take."""
    inputs = [node for node in case["graph"]["nodes"] if node["layer"] == INPUT]
    shapes = [one[3] if one[0] == "sample" else one[2] for one in case["data"]]
    return [
        np.full(shape, 0.5).astype(node.get("dtype", "float32"))
        for node, shape in zip(inputs, shapes)  # noqa: B905 - Python 3.9
    ]


def called(case: dict[str, Any]) -> None:
    """Build and call one model, and wait for what it computes."""
    model = built(case["graph"])
    arrays = fed(case)
    outputs = model(arrays if len(arrays) > 1 else arrays[0])
    for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
        keras.ops.convert_to_numpy(output)


def timed(cases: Sequence[dict[str, Any]]) -> tuple[float, int]:
    """Return CPU seconds, and how many models Keras ran; what it refuses costs as well."""
    began, ran = time.process_time(), 0
    for case in cases:
        try:
            called(case)
        except Exception as error:  # noqa: BLE001 - a layer that this backend lacks, or refuses
            print(f"left out: {type(error).__name__}: {error!s:.200}", file=sys.stderr)
            continue
        ran += 1
    return time.process_time() - began, ran


def main() -> None:
    """Print `seconds models` of the first round, then of the second."""
    if keras.config.backend() == "torch":
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
    cases = [json.loads(line)[2] for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    warm_up = int(sys.argv[2])
    timed(cases[:warm_up])
    for _ in range(2):
        print(*timed(cases[warm_up:]))


if __name__ == "__main__":
    main()
