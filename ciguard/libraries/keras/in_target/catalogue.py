"""Catalogue of Keras 3's public API."""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection
from ciguard.libraries.keras.in_target import classes
from ciguard.libraries.keras.in_target.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXCLUDED_MODULES = (
    "keras.src",
    "keras.legacy",
    "keras.backend",
    "keras.wrappers",
    "keras.applications",
)
"""Modules that are internal or deprecated, or contain whole models."""


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function and per class whose objects are called."""
    keras = importlib.import_module("keras")
    failures: list[dict[str, Any]] = []
    yield from introspection.each(_functions(keras, failures), _record)
    yield from classes.describe(keras, "keras")
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


def _functions(keras: Any, failures: list[dict[str, Any]]) -> introspection.PublicNames:
    """Return the documented public functions of Keras."""

    def enter(module: types.ModuleType, path: str) -> bool:
        return not path.startswith(_EXCLUDED_MODULES) and module.__name__.startswith("keras")

    functions = (
        (path, member)
        for path, member in introspection.walk(keras, enter=enter, failures=failures)
        if isinstance(member, types.FunctionType) and introspection.doc_of(member)
    )
    return introspection.canonical(functions)
