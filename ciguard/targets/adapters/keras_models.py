"""Running layer graphs in Keras: layers are called one after the other on real tensors.

No functional model is made unless it is to be saved: that costs more than the computation, and
every layer's output is at hand as it is.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from typing import Any

import numpy as np

from ciguard.targets.adapters import contract, keras_stored, keras_training
from ciguard.targets.adapters.keras_digests import digest
from ciguard.targets.adapters.keras_networks import INPUT, Network


def run(adapter: contract.Adapter, work: contract.ModelRun) -> Any:
    """Run a layer graph.

    Args:
        adapter: of Keras, loaded.
        work: what to run.

    Returns:
        By the case's check:

        `predict`: `{"outputs": [tensor…], "layers": {node: {"shape": […], "dtype", "sample": array
        of at most 64 evenly spaced elements, "nan": count, "inf": count, "mean_abs": of the finite
        elements}…}}`; with `probe` only `{"inputs": [tensor…]}`, the inputs of that node.

        `train`: see `keras_training.step`.

        `save`: `{"before": [tensor…], "after": [tensor…]}`.

    Raises:
        CannotComputeError: if the backend lacks the type that everything is to be computed in.
        LayerError: whatever Keras raises in a layer.
    """
    keras: Any = importlib.import_module("keras")
    if keras_stored.load(keras, work.case["graph"]["nodes"]):
        adapter.reset(int(work.case.get("seed", 0)))  # loading drew from the generators
    # Keras's own frames are what tells an internal error from another; hiding them costs time too.
    keras.config.disable_traceback_filtering()
    if work.case.get("dtype"):
        _compute_in(adapter, keras, work.case["dtype"])
    network = Network(adapter, keras, work)
    check = work.case["check"]
    if check == "train" and not work.case.get("probe"):
        return keras_training.step(network, work.truth)
    with _without_gradients(keras):
        if check == "save" and not work.case.get("probe"):
            return _saved_and_loaded(network)
        return _predicted(network, work.case.get("probe", ""))


def _compute_in(adapter: contract.Adapter, keras: Any, dtype: str) -> None:
    """Make `dtype` the type of all layers to come; `adapter.reset` puts the usual one back."""
    try:
        found = adapter.read(adapter.tensor(np.zeros(1, np.float32), dtype))
    except (AttributeError, KeyError, TypeError) as error:
        raise contract.CannotComputeError(str(error)) from error
    if found is None or found["dtype"] != dtype:
        msg = f"{adapter.module} makes another type of {dtype}"
        raise contract.CannotComputeError(msg)
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)


def _without_gradients(keras: Any) -> Any:
    if keras.config.backend() != "torch":
        return contextlib.nullcontext()
    return importlib.import_module("torch").no_grad()


def _predicted(network: Network, probe: str) -> Any:
    values = network.fed()
    network.forward(values, until=probe)
    if probe:
        node = next(each for each in network.nodes if each["name"] == probe)
        return {"inputs": [values[name] for name in node.get("inputs", ())]}
    layers = {}
    for node in network.nodes:
        if node["layer"] != INPUT:
            layers[node["name"]] = digest(network.adapter, values[node["name"]])
    return {"outputs": [values[name] for name in network.outputs], "layers": layers}


def _saved_and_loaded(network: Network) -> Any:
    """Make a functional model, compute, save it, load it, and compute again."""
    keras = network.keras
    values = {}
    for node in network.nodes:
        if node["layer"] == INPUT:
            dtype = network.dtype_of_input(node)
            values[node["name"]] = keras.Input(tuple(node["shape"]), dtype=dtype, name=node["name"])
    symbols = dict(values)
    network.forward(symbols)
    model = keras.Model(list(values.values()), [symbols[name] for name in network.outputs])
    fed = list(network.fed().values())
    before = _computed(model, fed)
    file, path = tempfile.mkstemp(suffix=".keras", dir=os.getcwd())
    os.close(file)
    try:
        model.save(path)
        loaded = keras.saving.load_model(path, compile=False)
    finally:
        os.unlink(path)
    return {"before": before, "after": _computed(loaded, fed)}


def _computed(model: Any, fed: list[Any]) -> list[Any]:
    output = model(fed if len(fed) > 1 else fed[0], training=False)
    return list(output) if isinstance(output, (list, tuple)) else [output]
