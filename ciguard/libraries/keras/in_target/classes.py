"""Keras classes whose objects are called: layers, losses, metrics, initialisers and the like."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection
from ciguard.libraries.keras.in_target.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALLED = {
    "layers": "call",
    "losses": "call",
    "metrics": "update_state",
    "initializers": "__call__",
    "regularizers": "__call__",
    "constraints": "__call__",
}
"""The method that computes, by module: its parameters are what the built object is called with."""


def describe(keras: Any, prefix: str) -> Iterator[dict[str, Any]]:
    """Yield one record per class.

    Args:
        keras: the package, of version 2 or 3.
        prefix: its public name, `keras` or `tensorflow.keras`.
    """
    found = []
    for module, call in _CALLED.items():
        members = getattr(keras, module, None)
        for name in introspection.public_names(members) if members is not None else ():
            thing = getattr(members, name)
            if inspect.isclass(thing) and hasattr(thing, call):
                found.append((f"{prefix}.{module}.{name}", thing, call))
    classes = introspection.canonical((path, thing) for path, thing, _ in found)
    calls = {path: call for path, _, call in found}
    yield from introspection.each(
        classes,
        lambda path, thing: introspection.layer_record(
            path, thing, call=calls[path], tags=tags_of(path)
        ),
    )
