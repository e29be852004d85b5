"""Runs layer graphs in Keras by calling the layers one after the other on real tensors.

A functional model is built only to be saved, since building takes longer than the computation.
Without a model, the outputs of all layers are accessible.
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
"""Size of weights, in bytes, above which garbage is collected immediately after a run."""


def run(adapter: contract.Adapter, work: contract.ModelRun) -> Any:
    """Run a layer graph.

    Args:
        adapter: the adapter of Keras, after `load`.
        work: the graph with its data.

    Returns:
        Depending on the case's check:

        `predict`: `{"outputs": [tensor…], "layers": {node: {"shape": […], "dtype", "sample": array
        of at most 64 evenly spaced elements, "nan": count, "inf": count, "mean_abs": mean magnitude
        of the finite elements}…}}`; with `probe`, only `{"inputs": [tensor…]}`: the inputs of the
        node that `probe` names.

        `train`: see `training.step`.

        `save`: `{"before": [tensor…], "after": [tensor…]}`.

    Raises:
        CannotComputeError: if the backend does not support the dtype of the computation, or a file
            of weights cannot be loaded.
        LayerError: if Keras raises an exception in a layer.
    """
    keras: Any = importlib.import_module("keras")
    try:
        if stored.load(keras, work.case["graph"]["nodes"]):
            adapter.reset(int(work.case.get("seed", 0)))  # loading has drawn random numbers
    except Exception as error:
        raise contract.CannotComputeError(str(error)) from error
    # Keras's own frames distinguish internal errors from others; hiding them takes time.
    keras.config.disable_traceback_filtering()
    with _computation_dtype(adapter, keras, work.case.get("dtype", "")):
        network = Network(adapter, keras, work)
        try:
            return _run_check(network, work)
        finally:
            is_large = network.weight_bytes > _LARGE_BYTES
            del network
            if is_large:  # layers have circular references, so Python would free them late
                gc.collect()


def _run_check(network: Network, work: contract.ModelRun) -> Any:
    check, probe = work.case["check"], work.case.get("probe", "")
    if check == "train" and not probe:
        return training.step(network, work.truth)
    with _without_gradients(network.keras):
        if check == "save" and not probe:
            return _save_and_load(network)
        return _predict(network, probe)


@contextlib.contextmanager
def _computation_dtype(adapter: contract.Adapter, keras: Any, dtype: str) -> Iterator[None]:
    """Set the dtype of all new layers during the block; `adapter.reset` restores the default.

    Raises:
        CannotComputeError: if the backend does not support the dtype.
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
    narrowed_dtypes = _narrowed_dtypes()
    original_dtypes = dict(narrowed_dtypes)
    narrowed_dtypes.pop(dtype, None)
    try:
        if keras.backend.result_type(dtype, dtype) != dtype:
            msg = (
                "this version of Keras computes in "
                f"{keras.backend.result_type(dtype, dtype)}, not in {dtype}"
            )
            raise contract.CannotComputeError(msg)
        yield
    finally:
        narrowed_dtypes.update(original_dtypes)


def _narrowed_dtypes() -> dict[str, str]:
    """Return Keras's table of 64-bit dtypes that its operations convert to 32 bits.

    On backends other than TensorFlow, `float64` is one of these dtypes, whatever the policy of a
    layer is.
    """
    module = importlib.import_module("keras.src.backend.common.dtypes")
    return getattr(module, "BIT64_TO_BIT32_DTYPE", {})


def _without_gradients(keras: Any) -> Any:
    if keras.config.backend() != "torch":
        return contextlib.nullcontext()
    return importlib.import_module("torch").no_grad()


def _predict(network: Network, probe: str) -> Any:
    """Return the outputs and the digests of all layers; with a probe, the inputs of that node."""
    values = network.input_tensors()
    layers: dict[str, Any] = {}

    def watch(name: str, tensor: Any) -> None:
        layers[name] = digest(network.adapter, tensor)

    network.forward(values, until=probe, watch=None if probe else watch)
    if probe:
        node = next(node for node in network.nodes if node["name"] == probe)
        return {"inputs": [values[name] for name in node.get("inputs", ())]}
    return {"outputs": [values[name] for name in network.outputs], "layers": layers}


def _save_and_load(network: Network) -> Any:
    """Return the outputs of a functional model before saving and after loading it."""
    keras = network.keras
    values = {}
    for node in network.nodes:
        if node["layer"] == INPUT:
            dtype = network.dtype_of_input(node)
            values[node["name"]] = keras.Input(tuple(node["shape"]), dtype=dtype, name=node["name"])
    symbols = dict(values)
    network.forward(symbols)
    model = keras.Model(list(values.values()), [symbols[name] for name in network.outputs])
    inputs = list(network.input_tensors().values())
    before = _compute(model, inputs)
    file, path = tempfile.mkstemp(suffix=".keras", dir=os.getcwd())
    os.close(file)
    try:
        model.save(path)
        loaded_model = keras.saving.load_model(path, compile=False)
    finally:
        os.unlink(path)
    return {"before": before, "after": _compute(loaded_model, inputs)}


def _compute(model: Any, inputs: list[Any]) -> list[Any]:
    output = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    return list(output) if isinstance(output, (list, tuple)) else [output]
