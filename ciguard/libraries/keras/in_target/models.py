"""Running layer graphs in Keras: layers are called one after the other on real tensors.

No functional model is made unless it is to be saved: that costs more than the computation, and
every layer's output is at hand as it is.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import tempfile
from typing import Any, Iterator

import numpy as np

from ciguard.libraries.in_target import contract
from ciguard.libraries.keras.in_target import stored, training
from ciguard.libraries.keras.in_target.digests import digest
from ciguard.libraries.keras.in_target.networks import INPUT, Network

_LARGE_BYTES = 64 * 1024 * 1024
"""Weights of a model that may not wait for Python to look for garbage by itself."""


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

        `train`: see `training.step`.

        `save`: `{"before": [tensor…], "after": [tensor…]}`.

    Raises:
        CannotComputeError: if the backend lacks the type that everything is to be computed in, or
            a file of weights cannot be loaded.
        LayerError: whatever Keras raises in a layer.
    """
    keras: Any = importlib.import_module("keras")
    try:
        if stored.load(keras, work.case["graph"]["nodes"]):
            adapter.reset(int(work.case.get("seed", 0)))  # loading drew from the generators
    except Exception as error:
        raise contract.CannotComputeError(str(error)) from error
    # Keras's own frames are what tells an internal error from another; hiding them costs time too.
    keras.config.disable_traceback_filtering()
    with _computing_in(adapter, keras, work.case.get("dtype", "")):
        network = Network(adapter, keras, work)
        try:
            return _checked(network, work)
        finally:
            is_large = network.weight_bytes > _LARGE_BYTES
            del network
            if is_large:  # layers refer to each other in circles: Python would let them pile up
                gc.collect()


def _checked(network: Network, work: contract.ModelRun) -> Any:
    check, probe = work.case["check"], work.case.get("probe", "")
    if check == "train" and not probe:
        return training.step(network, work.truth)
    with _without_gradients(network.keras):
        if check == "save" and not probe:
            return _saved_and_loaded(network)
        return _predicted(network, probe)


@contextlib.contextmanager
def _computing_in(adapter: contract.Adapter, keras: Any, dtype: str) -> Iterator[None]:
    """Make `dtype` the type of all layers to come; `adapter.reset` puts the usual one back.

    Raises:
        CannotComputeError: if the backend lacks it.
    """
    if not dtype:
        yield
        return
    try:
        adapter.tensor(np.zeros(1, np.float32), dtype)
    except (AttributeError, KeyError, TypeError) as error:
        raise contract.CannotComputeError(str(error)) from error
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)
    narrowed = _narrowed()
    usual = dict(narrowed)
    narrowed.pop(dtype, None)
    try:
        if keras.backend.result_type(dtype, dtype) != dtype:
            msg = f"this Keras computes in {keras.backend.result_type(dtype, dtype)}, not {dtype}"
            raise contract.CannotComputeError(msg)
        yield
    finally:
        narrowed.update(usual)


def _narrowed() -> dict[str, str]:
    """Return Keras's table of 64-bit types that its operations turn into 32-bit ones.

    Except on TensorFlow, `float64` is one of them, whatever a layer's policy says.
    """
    module = importlib.import_module("keras.src.backend.common.dtypes")
    return getattr(module, "BIT64_TO_BIT32_DTYPE", {})


def _without_gradients(keras: Any) -> Any:
    if keras.config.backend() != "torch":
        return contextlib.nullcontext()
    return importlib.import_module("torch").no_grad()


def _predicted(network: Network, probe: str) -> Any:
    values = network.fed()
    layers: dict[str, Any] = {}

    def watch(name: str, tensor: Any) -> None:
        layers[name] = digest(network.adapter, tensor)

    network.forward(values, until=probe, watch=None if probe else watch)
    if probe:
        node = next(each for each in network.nodes if each["name"] == probe)
        return {"inputs": [values[name] for name in node.get("inputs", ())]}
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
