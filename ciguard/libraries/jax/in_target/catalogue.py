"""Catalogue of JAX's public API."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection
from ciguard.libraries.jax.in_target.tags import tags_of

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

_MODULES = ("jax.numpy", "jax.nn", "jax.lax", "jax.scipy", "jax.random", "jax.image", "jax.ops")
_NON_FUNCTION_TYPES = ("_ScalarMeta", "Primitive")
"""Types of scalar dtypes, such as `jax.numpy.float32`, and of the primitives of functions."""


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function."""
    functions: list[tuple[str, Any]] = []
    failures: list[dict[str, Any]] = []
    for _, module in introspection.modules(_MODULES, failures=failures):
        functions.extend(_functions(module, failures))
    yield from introspection.each(introspection.canonical(functions), _record)
    yield from failures


def _record(api: str, function: Any) -> dict[str, Any]:
    doc = introspection.doc_of(function)
    parameters = introspection.from_signature(function)
    source = "signature" if parameters is not None else ""
    parameters = parameters or []
    introspection.describe_parameters(parameters, doc)
    return introspection.record(
        api, "function", parameters, doc=doc, source=source, tags=tags_of(api)
    )


def _functions(root: Any, failures: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    def enter(module: types.ModuleType, path: str) -> bool:
        return module.__name__ == path

    for path, member in introspection.walk(root, enter=enter, failures=failures):
        if type(member).__name__ in _NON_FUNCTION_TYPES or inspect.isclass(member):
            continue
        if callable(member) and introspection.doc_of(member):
            yield path, member
