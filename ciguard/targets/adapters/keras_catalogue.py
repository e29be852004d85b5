"""What Keras 3 says of its public API."""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any

from ciguard.targets.adapters import introspection, keras_classes
from ciguard.targets.adapters.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEFT_OUT = ("keras.src", "keras.legacy", "keras.backend", "keras.wrappers", "keras.applications")
"""Internal, deprecated, or whole programs."""


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function and per class whose objects are called."""
    keras = importlib.import_module("keras")
    for api, function in _functions(keras).items():
        doc = introspection.doc_of(function)
        parameters = introspection.from_signature(function) or []
        introspection.describe_parameters(parameters, doc)
        yield introspection.record(
            api, "function", parameters, doc=doc, source="signature", tags=tags_of(api)
        )
    yield from keras_classes.describe(keras, "keras")


def _functions(keras: Any) -> dict[str, Any]:
    def enter(module: types.ModuleType, path: str) -> bool:
        return not path.startswith(_LEFT_OUT) and module.__name__.startswith("keras")

    found = (
        (path, thing)
        for path, thing in introspection.walk(keras, enter=enter)
        if isinstance(thing, types.FunctionType) and introspection.doc_of(thing)
    )
    return introspection.canonical(found)
