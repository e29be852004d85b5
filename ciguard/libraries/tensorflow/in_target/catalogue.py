"""Catalogue of TensorFlow's public API."""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection, tag_names
from ciguard.libraries.in_target.device_notes import NO_KERNEL
from ciguard.libraries.keras.in_target import classes as keras_classes
from ciguard.libraries.tensorflow.in_target.opdefs import OpDefs
from ciguard.libraries.tensorflow.in_target.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXCLUDED_MODULES = (
    "tensorflow.compat",
    "tensorflow.keras",
    "tensorflow.raw_ops",
    "tensorflow.tools",
    "tensorflow.initializers",
    "tensorflow.losses",
    "tensorflow.metrics",
    "tensorflow.optimizers",
    "tensorflow.python",
    "tensorflow.core",
)
"""Modules that are described elsewhere, internal, or aliases."""
_API_MODULES = "tensorflow._api."
_RAW_PREFIX = "tensorflow.raw_ops."


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function, raw operation and Keras layer."""
    tensorflow = importlib.import_module("tensorflow")
    definitions = OpDefs()
    operators = _operators(tensorflow)
    failures: list[dict[str, Any]] = []
    yield from introspection.each(
        _functions(tensorflow, failures),
        lambda api, function: _record(
            api, function, operators.get(_origin(function), ""), definitions
        ),
    )
    raw_operations = {
        f"{_RAW_PREFIX}{name}": getattr(tensorflow.raw_ops, name)
        for name in introspection.public_names(tensorflow.raw_ops)
    }
    yield from introspection.each(
        raw_operations.items(), lambda api, function: _raw_record(api, function, definitions)
    )
    yield from failures
    try:
        keras = tensorflow.keras
        _ = keras.layers
    except (AttributeError, ImportError):
        return  # built without Keras
    yield from keras_classes.describe(keras, "tensorflow.keras")


def _functions(tensorflow: Any, failures: list[dict[str, Any]]) -> introspection.PublicNames:
    """Return the documented public functions of TensorFlow."""

    def enter(module: types.ModuleType, path: str) -> bool:
        return not path.startswith(_EXCLUDED_MODULES) and module.__name__.startswith(_API_MODULES)

    functions = (
        (path, member)
        for path, member in introspection.walk(tensorflow, enter=enter, failures=failures)
        if isinstance(member, types.FunctionType) and introspection.doc_of(member)
    )
    return introspection.canonical(functions)


def _origin(function: Any) -> tuple[str, str]:
    return str(function.__module__), str(function.__name__)


def _operators(tensorflow: Any) -> dict[tuple[str, str], str]:
    """Return the names of raw operations, by module and name of their Python functions."""
    names = introspection.public_names(tensorflow.raw_ops)
    return {_origin(getattr(tensorflow.raw_ops, name)): name for name in names}


def _record(api: str, function: Any, operator: str, definitions: OpDefs) -> dict[str, Any]:
    """Return the record of a function, with the facts that its operator definition states."""
    doc = introspection.doc_of(function)
    parameters = introspection.from_signature(function)
    source = "signature" if parameters is not None else ""
    parameters = [item for item in parameters or [] if item["name"] != "name"]
    definition = definitions.find(operator) if operator else None
    if definition is not None:
        _add_facts(parameters, definitions.facts(definition))
    introspection.describe_parameters(parameters, doc)
    record = introspection.record(
        api, "function", parameters, doc=doc, source=source, operator=operator, tags=tags_of(api)
    )
    if definition is not None and definitions.runs_on_cpus_only(definition):
        record["on_devices"] = sorted({NO_KERNEL, *record.get("on_devices", ())})
    return record


def _raw_record(api: str, function: Any, definitions: OpDefs) -> dict[str, Any]:
    """Return the record of a raw operation, with tags from its definition."""
    name = api.removeprefix(_RAW_PREFIX)
    record = _record(api, function, name, definitions)
    for item in record["parameters"]:
        item["kind"] = "keyword_only"  # raw operations reject positional arguments
    definition = definitions.find(name)
    if definition is not None:
        record["source"] = "opdef"
        tag_predicates = (
            (tag_names.HANDLE, definitions.needs_handle),
            (tag_names.RANDOM, definitions.is_random),
            (tag_names.REMOVED, definitions.is_removed),
            (tag_names.REMOVED, definitions.needs_graph),
            (tag_names.REMOVED, definitions.lacks_kernel),
        )
        extra = [tag for tag, applies in tag_predicates if applies(definition)]
        record["tags"] = tags_of(record["api"], *extra)
    return record


def _add_facts(parameters: list[dict[str, Any]], facts: dict[str, dict[str, Any]]) -> None:
    for item in parameters:
        item.update(facts.get(item["name"], {}))
