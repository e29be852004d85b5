"""One training step of a layer graph in Keras: its loss and its gradients.

The loss is the mean of (first output - truth)² over all elements.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.libraries.in_target.contract import LayerError
from ciguard.libraries.keras.in_target.digests import digest

if TYPE_CHECKING:
    from ciguard.libraries.keras.in_target.networks import Network

_MAX_SAMPLE = 4096
"""Maximum number of elements in the sample of a gradient; it is reached if weights are few."""
_MIN_SAMPLE = 64
"""Minimum number of elements in the sample of a gradient."""
_MAX_TOTAL = 1 << 18
"""Approximate maximum number of elements in the samples of all gradients together."""


def step(network: Network, truth: Any) -> Any:
    """Return the loss and the gradients of one training step.

    Args:
        network: the network, before any layer is built.
        truth: the expected first output.

    Returns:
        `{"loss": tensor, "gradients": {"node/weight": gradient…}, "inputs": {node: gradient…}}`
        with the trainable weights in the order of the graph, and the floating-point inputs. A
        gradient is `{"shape": […], "dtype", "sample": array, "nan": count, "inf": count,
        "mean_abs", "norm": Euclidean}`. The sample is flat, and contains all elements or 4096
        evenly spaced ones (fewer in models with more than 64 weights). Gradients are zero if the
        loss does not depend on the weight or input.

    Raises:
        ValueError: if the shape of the first output is not that of `truth`.
        Exception: any exception of Keras or the backend.
    """
    feed = network.input_tensors()
    loss, variables, gradients = _BACKENDS[network.keras.config.backend()](network, feed, truth)
    names = [*variables, *_floating_inputs(feed)]
    sample_size = max(_MIN_SAMPLE, min(_MAX_SAMPLE, _MAX_TOTAL // max(1, len(names))))
    sources = [*variables.values(), *_floating_inputs(feed).values()]
    digests = [
        _gradient_digest(network, gradient, source, sample_size)
        for gradient, source in zip(gradients, sources)
    ]
    return {
        "loss": loss,
        "gradients": dict(zip(variables, digests)),
        "inputs": dict(zip(names[len(variables) :], digests[len(variables) :])),
    }


def _gradient_digest(
    network: Network, gradient: Any, source: Any, sample_size: int
) -> dict[str, Any]:
    """Return the digest of a gradient, with its norm; zeros if there is no gradient."""
    if gradient is None:
        dtype = network.keras.backend.standardize_dtype(source.dtype)
        gradient = network.keras.ops.zeros(tuple(source.shape), dtype=dtype)
    summary = digest(network.adapter, gradient, sample_size)
    contents = network.adapter.read(gradient) or {}
    if "array" in contents:
        summary["norm"] = float(np.sqrt(np.sum(np.square(contents["array"], dtype=np.float64))))
    return summary


def _floating_inputs(feed: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in feed.items() if "float" in str(value.dtype)}


def _trainable_weights(network: Network) -> dict[str, Any]:
    """Return the trainable weights by `node/weight`, in the order of the graph."""
    weights: dict[str, Any] = {}
    for node, layer in network.layers.items():
        for weight in layer.trainable_weights:
            duplicates = sum(key.startswith(f"{node}/{weight.name}") for key in weights)
            weights[f"{node}/{weight.name}{f'_{duplicates}' if duplicates else ''}"] = weight
    return weights


def _loss(network: Network, values: dict[str, Any], truth: Any) -> Any:
    """Compute the graph, add its outputs to `values`, and return the loss."""
    network.forward(values)
    output = values[network.outputs[0]]
    if tuple(output.shape) != truth.shape:
        msg = f"the first output has shape {tuple(output.shape)}, the labels {truth.shape}"
        raise ValueError(msg)
    ops = network.keras.ops
    loss_dtype = network.case.get("dtype") or "float32"
    difference = ops.cast(output, loss_dtype) - ops.cast(truth, loss_dtype)
    return ops.mean(ops.square(difference))


def _gradients_with_torch(network: Network, feed: dict[str, Any], truth: Any) -> Any:
    """Return the results of the step, see `_BACKENDS`, computed with `torch.autograd`."""
    torch: Any = importlib.import_module("torch")
    inputs = _floating_inputs(feed)
    for tensor in inputs.values():
        tensor.requires_grad_(True)  # noqa: FBT003 - torch's own signature
    loss = _loss(network, dict(feed), truth)
    variables = _trainable_weights(network)
    sources = [*(weight.value for weight in variables.values()), *inputs.values()]
    gradients = torch.autograd.grad(loss, sources, allow_unused=True) if sources else ()
    return loss.detach(), variables, gradients


def _gradients_with_tensorflow(network: Network, feed: dict[str, Any], truth: Any) -> Any:
    """Return the results of the step, see `_BACKENDS`, computed with a gradient tape."""
    tensorflow: Any = importlib.import_module("tensorflow")
    inputs = list(_floating_inputs(feed).values())
    with tensorflow.GradientTape() as tape:
        tape.watch(inputs)
        loss = _loss(network, dict(feed), truth)
    variables = _trainable_weights(network)
    sources = [*(weight.value for weight in variables.values()), *inputs]
    gradients = tape.gradient(loss, sources)
    return (
        loss,
        variables,
        [None if g is None else tensorflow.convert_to_tensor(g) for g in gradients],
    )


def _gradients_with_jax(network: Network, feed: dict[str, Any], truth: Any) -> Any:
    """Return the results of the step, see `_BACKENDS`, computed with `jax.value_and_grad`."""
    jax: Any = importlib.import_module("jax")
    _build_layers(network, feed)
    variables = _trainable_weights(network)
    weights = list(variables.values())
    inputs = _floating_inputs(feed)

    def loss_of(values: list[Any], tensors: list[Any]) -> Any:
        mapping = list(zip(weights, values))
        all_inputs = {**feed, **dict(zip(inputs, tensors))}
        with network.keras.StatelessScope(state_mapping=mapping):
            return _loss(network, all_inputs, truth)

    values = [weight.value for weight in weights]
    compute = jax.value_and_grad(loss_of, argnums=(0, 1))
    loss, (weight_gradients, input_gradients) = compute(values, list(inputs.values()))
    return loss, variables, [*weight_gradients, *input_gradients]


def _build_layers(network: Network, feed: dict[str, Any]) -> None:
    """Build the layers from shapes only, since JAX compiles each operation that it computes.

    If a layer cannot be called with symbolic inputs, all layers are called with the real arrays, so
    that only errors with real data are reported.
    """
    symbolic_inputs = {
        name: network.keras.Input(batch_shape=tuple(value.shape), dtype=str(value.dtype))
        for name, value in feed.items()
    }
    try:
        network.forward(symbolic_inputs)
    except LayerError:
        network.forward(dict(feed))


_BACKENDS = {
    "torch": _gradients_with_torch,
    "tensorflow": _gradients_with_tensorflow,
    "jax": _gradients_with_jax,
}
"""Functions by backend that compute the step. Each returns the loss, the trainable weights by name,
and the gradients of the loss with respect to the weights, then to the inputs. A gradient is None if
the loss does not depend on the weight or input."""
