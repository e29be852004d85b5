"""Gradients and vectorised runs of functions, as JAX transforms functions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.libraries.in_target import contract

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[Callable[..., Any], list[Any]], Any]


def with_gradients(run: Run, function: Callable[..., Any], tensors: list[Any]) -> list[Any]:
    """Return the result of a function and its gradients, see `contract.Adapter`."""
    jax = importlib.import_module("jax")
    places = tuple(place for place, tensor in enumerate(tensors) if _is_real(tensor))
    if not places:
        return [run(function, tensors), []]

    def weighted(*arrays: Any) -> tuple[Any, Any]:
        result = function(*arrays)
        parts = [part for part in jax.tree.leaves(result) if _is_real(part)]
        return sum(map(_weighted_sum, parts), jax.numpy.zeros(())), result

    of_all = jax.value_and_grad(weighted, argnums=places, has_aux=True)
    (_, result), gradients = run(of_all, tensors)
    return [result, list(gradients)]


def run_mapped(
    run: Run, function: Callable[..., Any], tensors: list[Any], others: list[Any]
) -> list[Any]:
    """Return the results for two lists of arrays, computed at once by `jax.vmap`."""
    jax = importlib.import_module("jax")
    stacked = [jax.numpy.stack(pair) for pair in zip(tensors, others)]
    results = run(jax.vmap(function), stacked)
    return [jax.tree.map(lambda array, place=place: array[place], results) for place in range(2)]


def _is_real(value: Any) -> bool:
    jax = importlib.import_module("jax")
    return isinstance(value, jax.Array) and jax.numpy.issubdtype(value.dtype, jax.numpy.floating)


def _weighted_sum(array: Any) -> Any:
    weights = np.linspace(contract.LOW_WEIGHT, contract.HIGH_WEIGHT, array.size)
    return (array * weights.reshape(array.shape).astype(array.dtype)).sum()
