"""Keras classes whose instances are called: layers, losses, metrics, initialisers and others."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection
from ciguard.libraries.keras.in_target.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL_METHODS = {
    "layers": "call",
    "losses": "call",
    "metrics": "update_state",
    "initializers": "__call__",
    "regularizers": "__call__",
    "constraints": "__call__",
}
"""Methods that compute, by module; their parameters are the inputs of an instance."""


def describe(keras: Any, prefix: str) -> Iterator[dict[str, Any]]:
    """Yield one record per class whose instances are called.

    Args:
        keras: the package Keras, version 2 or 3.
        prefix: the public name of the package, `keras` or `tensorflow.keras`.
    """
    callables = []
    for name, call in _CALL_METHODS.items():
        module = getattr(keras, name, None)
        for member in introspection.public_names(module) if module is not None else ():
            layer_class = getattr(module, member)
            if inspect.isclass(layer_class) and hasattr(layer_class, call):
                callables.append((f"{prefix}.{name}.{member}", layer_class, call))
    classes = introspection.canonical((path, layer_class) for path, layer_class, _ in callables)
    calls = {path: call for path, _, call in callables}
    yield from introspection.each(
        classes,
        lambda path, layer_class: introspection.layer_record(
            path, layer_class, call=calls[path], tags=tags_of(path)
        ),
    )
