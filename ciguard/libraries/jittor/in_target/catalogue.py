"""Catalogue of Jittor's public API."""

from __future__ import annotations

import importlib
import inspect
import types
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import introspection, tag_names
from ciguard.libraries.jittor.in_target import cpp_declarations
from ciguard.libraries.jittor.in_target.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULES = (
    "jittor",
    "jittor.nn",
    "jittor.linalg",
    "jittor.init",
    "jittor.attention",
    "jittor.loss3d",
    "jittor.sparse",
    "jittor.contrib",
)
_VAR = "jittor.Var."
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)


def describe() -> Iterator[dict[str, Any]]:
    """Yield one record per public function, layer class and method of `Var`."""
    jittor = importlib.import_module("jittor")
    failures: list[dict[str, Any]] = []
    members = _members(jittor, failures)
    functions = ((path, member) for path, member in members if isinstance(member, _FUNCTIONS))
    yield from introspection.each(introspection.canonical(functions), _function_record)
    layers = [
        (path, member)
        for path, member in members
        if inspect.isclass(member) and issubclass(member, jittor.Module)
    ]
    yield from introspection.each(
        introspection.canonical(layers),
        lambda api, layer: introspection.layer_record(
            api, layer, call="execute", tags=tags_of(api)
        ),
    )
    methods = [(f"{_VAR}{name}", getattr(jittor.Var, name)) for name in sorted(vars(jittor.Var))]
    yield from introspection.each(
        [
            (api, method)
            for api, method in methods
            if not api.startswith(f"{_VAR}_") and isinstance(method, _FUNCTIONS)
        ],
        lambda api, method: _method_record(jittor, api, method),
    )
    yield from failures


def _members(jittor: Any, failures: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Return the qualified names and objects of public members that Jittor itself defines."""
    members = []
    for name, module in introspection.modules(_MODULES, failures=failures):
        for member_name in introspection.public_names(module):
            if len(member_name) == 1:
                continue  # a loop variable that the module leaves behind
            member = getattr(module, member_name, None)
            origin = str(getattr(member, "__module__", "") or "")
            is_native = isinstance(member, types.BuiltinFunctionType)
            if is_native or origin.startswith(jittor.__name__):
                members.append((f"{name}.{member_name}", member))
    return members


def _function_record(api: str, function: Any) -> dict[str, Any]:
    parameters, source = _parameters(api, function)
    return _record(api, "function", function, parameters, source)


def _parameters(api: str, function: Any) -> tuple[list[dict[str, Any]], str]:
    parameters = introspection.from_signature(function)
    if parameters is not None:
        return parameters, "signature"
    name = api.rpartition(".")[2]
    doc = introspection.doc_of(function)
    declared_parameters = cpp_declarations.declared_parameters(doc, name)
    return (declared_parameters, "schema") if declared_parameters is not None else ([], "")


def _record(
    api: str, kind: str, member: Any, parameters: list[dict[str, Any]], source: str
) -> dict[str, Any]:
    doc = cpp_declarations.without_declarations(introspection.doc_of(member))
    introspection.describe_parameters(parameters, doc)
    extra = () if doc else (tag_names.UNDOCUMENTED,)
    return introspection.record(
        api, kind, parameters, doc=doc, source=source, tags=tags_of(api, *extra)
    )


def _method_record(jittor: Any, api: str, method: Any) -> dict[str, Any]:
    """Return a method's record, with the receiver as the first parameter.

    Operators are functions whose first argument is the receiver. Members of `Var` that have no
    equivalent function declare their arguments without the receiver.
    """
    name = api.removeprefix(_VAR)
    parameters, source = _parameters(api, method)
    is_operator = isinstance(method, types.FunctionType) or hasattr(jittor, name)
    receiver = introspection.parameter("self", kind="positional_only", schema_type="Tensor")
    rest = parameters[1:] if is_operator else parameters
    return _record(api, "method", method, [receiver, *rest], source)
