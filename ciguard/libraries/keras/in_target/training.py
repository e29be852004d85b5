"""One training step of a layer graph in Keras: its loss and its gradients.

The loss is the mean of (first output - truth)², over all elements.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.libraries.in_target.contract import LayerError
from ciguard.libraries.keras.in_target.digests import digest

if TYPE_CHECKING:
    from ciguard.libraries.keras.in_target.networks import Network

_WHOLE = 4096
"""Elements of a gradient that come back, of a model with few weights."""
_FEWEST = 64
"""Elements of a gradient that come back in any case."""
_ALL_WHOLE = 1 << 18
"""Elements of all gradients together, about."""


def step(network: Network, truth: Any) -> Any:
    """Return loss and gradients.

    Args:
        network: with no layer made yet.
        truth: what the first output ought to be, of its shape.

    Returns:
        `{"loss": tensor, "gradients": {"node/weight": gradient…}, "inputs": {node: gradient…}}`
        with the trainable weights in order of the graph, and the inputs that are floating-point.
        A gradient is `{"shape": […], "dtype", "sample": array, "nan": count, "inf": count,
        "mean_abs", "norm": Euclidean}`; its sample is the whole of it, flat, up to 4096 elements
        (less in models with more than 64 weights), else evenly spaced. Of what the loss does not
        depend on it is zero.

    Raises:
        ValueError: if the first output has another shape than `truth`.
        Exception: whatever Keras or the backend raises.
    """
    fed = network.fed()
    loss, variables, gradients = _BACKENDS[network.keras.config.backend()](network, fed, truth)
    names = [*variables, *_floating(fed)]
    most = max(_FEWEST, min(_WHOLE, _ALL_WHOLE // max(1, len(names))))
    sources = [*variables.values(), *_floating(fed).values()]
    found = [
        _described(network, gradient, source, most) for gradient, source in zip(gradients, sources)
    ]
    return {
        "loss": loss,
        "gradients": dict(zip(variables, found)),
        "inputs": dict(zip(names[len(variables) :], found[len(variables) :])),
    }


def _described(network: Network, gradient: Any, source: Any, most: int) -> dict[str, Any]:
    if gradient is None:
        dtype = network.keras.backend.standardize_dtype(source.dtype)
        gradient = network.keras.ops.zeros(tuple(source.shape), dtype=dtype)
    found = digest(network.adapter, gradient, most)
    read = network.adapter.read(gradient) or {}
    if "array" in read:
        found["norm"] = float(np.sqrt(np.sum(np.square(read["array"], dtype=np.float64))))
    return found


def _floating(fed: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fed.items() if "float" in str(value.dtype)}


def _trainable(network: Network) -> dict[str, Any]:
    """Return the trainable weights by `node/weight`, in order of the graph."""
    found: dict[str, Any] = {}
    for node, layer in network.layers.items():
        for weight in layer.trainable_weights:
            before = sum(key.startswith(f"{node}/{weight.name}") for key in found)
            found[f"{node}/{weight.name}{f'_{before}' if before else ''}"] = weight
    return found


def _loss(network: Network, values: dict[str, Any], truth: Any) -> Any:
    """Compute the graph, into `values`, and return its loss."""
    network.forward(values)
    output = values[network.outputs[0]]
    if tuple(output.shape) != truth.shape:
        msg = f"the first output has shape {tuple(output.shape)}, the truth {truth.shape}"
        raise ValueError(msg)
    ops = network.keras.ops
    wide = network.case.get("dtype") or "float32"
    difference = ops.cast(output, wide) - ops.cast(truth, wide)
    return ops.mean(ops.square(difference))


def _on_torch(network: Network, fed: dict[str, Any], truth: Any) -> Any:
    torch: Any = importlib.import_module("torch")
    inputs = _floating(fed)
    for tensor in inputs.values():
        tensor.requires_grad_(True)  # noqa: FBT003 - torch's own
    loss = _loss(network, dict(fed), truth)
    variables = _trainable(network)
    sources = [*(weight.value for weight in variables.values()), *inputs.values()]
    gradients = torch.autograd.grad(loss, sources, allow_unused=True) if sources else ()
    return loss.detach(), variables, gradients


def _on_tensorflow(network: Network, fed: dict[str, Any], truth: Any) -> Any:
    tensorflow: Any = importlib.import_module("tensorflow")
    inputs = list(_floating(fed).values())
    with tensorflow.GradientTape() as tape:
        tape.watch(inputs)
        loss = _loss(network, dict(fed), truth)
    variables = _trainable(network)
    sources = [*(weight.value for weight in variables.values()), *inputs]
    gradients = tape.gradient(loss, sources)
    return (
        loss,
        variables,
        [None if g is None else tensorflow.convert_to_tensor(g) for g in gradients],
    )


def _on_jax(network: Network, fed: dict[str, Any], truth: Any) -> Any:
    """Make the layers, then compute the graph as a function of weights and inputs."""
    jax: Any = importlib.import_module("jax")
    _make_layers(network, fed)
    variables = _trainable(network)
    weights = list(variables.values())
    inputs = _floating(fed)

    def loss_of(values: list[Any], tensors: list[Any]) -> Any:
        mapping = list(zip(weights, values))
        given = {**fed, **dict(zip(inputs, tensors))}
        with network.keras.StatelessScope(state_mapping=mapping):
            return _loss(network, given, truth)

    values = [weight.value for weight in weights]
    compute = jax.value_and_grad(loss_of, argnums=(0, 1))
    loss, (of_weights, of_inputs) = compute(values, list(inputs.values()))
    return loss, variables, [*of_weights, *of_inputs]


def _make_layers(network: Network, fed: dict[str, Any]) -> None:
    """Make the layers from shapes alone: JAX would compile each operation that it computes.

    A layer that cannot be called with shapes is called with numbers: what it raises then counts.
    """
    symbols = {
        name: network.keras.Input(batch_shape=tuple(value.shape), dtype=str(value.dtype))
        for name, value in fed.items()
    }
    try:
        network.forward(symbols)
    except LayerError:
        network.forward(dict(fed))


_BACKENDS = {"torch": _on_torch, "tensorflow": _on_tensorflow, "jax": _on_jax}
"""Each returns the loss, the trainable weights by name, and the gradients of these and the inputs;
None for what the loss does not depend on."""
