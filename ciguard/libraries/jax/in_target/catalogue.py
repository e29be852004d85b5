"""What JAX says of its public API."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection
from ciguard.libraries.jax.in_target.tags import tags_of

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

_MODULES = ("jax.numpy", "jax.nn", "jax.lax", "jax.scipy", "jax.random", "jax.image", "jax.ops")
_SCALAR_MAKERS = ("_ScalarMeta", "Primitive")
"""Types of `jax.numpy.float32` and its like, and of the operators behind the functions."""


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function."""
    found: list[tuple[str, Any]] = []
    lost: list[dict[str, Any]] = []
    for _, module in introspection.modules(_MODULES, lost=lost):
        found.extend(_functions(module, lost))
    yield from introspection.each(introspection.canonical(found), _record)
    yield from lost


def _record(api: str, function: Any) -> dict[str, Any]:
    doc = introspection.doc_of(function)
    parameters = introspection.from_signature(function)
    source = "signature" if parameters is not None else ""
    parameters = parameters or []
    introspection.describe_parameters(parameters, doc)
    return introspection.record(
        api, "function", parameters, doc=doc, source=source, tags=tags_of(api)
    )


def _functions(root: Any, lost: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    def enter(module: types.ModuleType, path: str) -> bool:
        return module.__name__ == path

    for path, thing in introspection.walk(root, enter=enter, lost=lost):
        if type(thing).__name__ in _SCALAR_MAKERS or inspect.isclass(thing):
            continue
        if callable(thing) and introspection.doc_of(thing):
            yield path, thing
