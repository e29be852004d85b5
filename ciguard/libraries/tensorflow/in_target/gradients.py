"""Gradients of functions by TensorFlow's tape."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import contract

if TYPE_CHECKING:
    from collections.abc import Callable


def with_gradients(
    run: Callable[[Callable[..., Any], list[Any]], Any],
    function: Callable[..., Any],
    tensors: list[Any],
) -> Any:
    """Return the result of a function and its gradients, see `contract.Adapter`.

    There are no gradients if the function calls an operator that has none.
    """
    tensorflow = importlib.import_module("tensorflow")

    def differentiated(*arrays: Any) -> list[Any]:
        inputs = [array for array in arrays if array.dtype.is_floating]
        with tensorflow.GradientTape() as tape:
            tape.watch(inputs)
            result = function(*arrays)
            parts = filter(tensorflow.is_tensor, tensorflow.nest.flatten(result))
            terms = [_weighted_sum(part) for part in parts if part.dtype.is_floating]
        if not terms or not inputs:
            return [result, []]
        try:
            gradients = tape.gradient(terms, inputs)  # of their sum
        except LookupError:  # no gradient is registered for an operator, in no mode
            return [result, []]
        return [result, [_dense(found) for found in gradients]]

    return run(differentiated, tensors)


def _weighted_sum(tensor: Any) -> Any:
    """Return the weighted sum of a tensor whose shape may be unknown while a graph is traced."""
    tensorflow = importlib.import_module("tensorflow")
    count = tensorflow.size(tensor)
    positions = tensorflow.cast(tensorflow.range(count), tensorflow.float64)
    share = positions / tensorflow.cast(tensorflow.maximum(count - 1, 1), tensorflow.float64)
    weights = contract.LOW_WEIGHT + (contract.HIGH_WEIGHT - contract.LOW_WEIGHT) * share
    weights = tensorflow.reshape(tensorflow.cast(weights, tensor.dtype), tensorflow.shape(tensor))
    return tensorflow.cast(tensorflow.reduce_sum(tensor * weights), tensorflow.float64)


def _dense(gradient: Any) -> Any:
    """Return a gradient as a tensor; None where the result does not depend on the input."""
    tensorflow = importlib.import_module("tensorflow")
    return None if gradient is None else tensorflow.convert_to_tensor(gradient)
