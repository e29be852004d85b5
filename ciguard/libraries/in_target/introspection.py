"""Builds records of Python objects from their public names, signatures and docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import device_notes, docstrings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional_only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional_or_keyword",
    inspect.Parameter.KEYWORD_ONLY: "keyword_only",
    inspect.Parameter.VAR_POSITIONAL: "var_positional",
    inspect.Parameter.VAR_KEYWORD: "var_keyword",
}
_UNSTABLE_REPR = re.compile(r" at 0x[0-9a-f]+|^<(?:function|class|module|object|built-in)")
_RECEIVERS = ("self", "cls")
_MAX_REASON_LENGTH = 300


def record(api: str, kind: str, parameters: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """Return the JSON of a `ciguard.domain.records.ApiRecord`.

    Args:
        api: the qualified public name.
        kind: the kind, `function`, `layer` or `method`.
        parameters: the parameters, as returned by `parameter`.
        fields: other fields of the record. Of the docstring `doc`, only the first paragraph is
            stored.
    """
    encoded: dict[str, Any] = {"api": api, "kind": kind, "parameters": parameters}
    encoded.update({key: value for key, value in fields.items() if value not in ("", None, [], ())})
    if "doc" in encoded:
        known = {item["name"] for item in (*parameters, *fields.get("inputs", ()))}
        claims = {
            "strangers": docstrings.undeclared_parameters(encoded["doc"], known),
            "unread": docstrings.unparsed_lines(encoded["doc"], known),
        }
        claims["on_devices"] = device_notes.notes_in(encoded["doc"])
        encoded.update({key: names for key, names in claims.items() if names})
        encoded["doc"] = docstrings.first_paragraph(encoded["doc"])
    return encoded


def skipped(name: str, error: BaseException) -> dict[str, Any]:
    """Return the JSON of a `ciguard.domain.records.Skipped`."""
    return {"skipped": name, "reason": f"{type(error).__name__}: {error}"[:_MAX_REASON_LENGTH]}


def each(
    named_objects: PublicNames | Iterable[tuple[str, Any]],
    describe: Callable[[str, Any], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield the record of every named object, or a `Skipped` if `describe` raises an exception.

    Public objects of the library may do anything when they are inspected.
    """
    aliases = named_objects.aliases if isinstance(named_objects, PublicNames) else {}
    for api, value in (
        named_objects.items() if isinstance(named_objects, PublicNames) else named_objects
    ):
        try:
            api_record = describe(api, value)
            if api in aliases:
                api_record["aliases"] = aliases[api]
            yield api_record
        except Exception as error:  # noqa: BLE001 - reported as skipped; other objects are still described
            yield skipped(api, error)


def layer_record(api: str, layer: type, *, call: str, tags: list[str]) -> dict[str, Any]:
    """Return the record of a layer class, whose instances are called with tensors.

    Args:
        api: the qualified public name.
        layer: the class.
        call: the method that computes: `forward`, `call`, `execute`, `__call__`.
        tags: the tags of the class.
    """
    signature = from_signature(layer)
    parameters = signature or []
    doc = "\n\n".join(
        (inspect.cleandoc(doc_of(layer)), inspect.cleandoc(doc_of(vars(layer).get("__init__"))))
    )
    describe_parameters(parameters, doc)
    method = getattr(layer, call, None)
    inputs = without_receiver(from_signature(method) or [])
    describe_parameters(inputs, "\n\n".join((doc_of(method), doc)))
    source = "" if signature is None else "signature"
    return record(api, "layer", parameters, doc=doc, source=source, inputs=inputs, tags=tags)


def parameter(
    name: str, *, kind: str = "positional_or_keyword", default: str | None = None, **fields: Any
) -> dict[str, Any]:
    """Return the JSON of a parameter, required if it has no default and is not variadic."""
    is_variadic = kind.startswith("var_")
    encoded = {"name": name, "kind": kind, "required": default is None and not is_variadic}
    if default is not None:
        encoded["default"] = default
    encoded.update({key: value for key, value in fields.items() if value not in ("", None, [], ())})
    return encoded


def from_signature(function: Any) -> list[dict[str, Any]] | None:
    """Return the parameters in the signature of a function; None if `inspect` finds none."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    parameters = []
    for item in signature.parameters.values():
        default = None if item.default is inspect.Parameter.empty else stable_repr(item.default)
        hint = "" if item.annotation is inspect.Parameter.empty else hint_text(item.annotation)
        parameters.append(
            parameter(item.name, kind=_KINDS[item.kind], default=default, annotation=hint)
        )
    return parameters


def from_arguments(arguments: ast.arguments) -> list[dict[str, Any]]:
    """Return the parameters of a parsed definition, from a stub or a docstring's signature line."""
    positional = [*arguments.posonlyargs, *arguments.args]
    count_without_default = len(positional) - len(arguments.defaults)
    defaults = [None] * count_without_default + list(arguments.defaults)
    parameters = []
    for index, (item, default) in enumerate(zip(positional, defaults)):
        is_positional_only = index < len(arguments.posonlyargs)
        parameters.append(
            _from_ast(
                item, default, "positional_only" if is_positional_only else _POSITIONAL_OR_KEYWORD
            )
        )
    if arguments.vararg:
        parameters.append(_from_ast(arguments.vararg, None, "var_positional"))
    for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        parameters.append(_from_ast(item, default, "keyword_only"))
    if arguments.kwarg:
        parameters.append(_from_ast(arguments.kwarg, None, "var_keyword"))
    return parameters


_POSITIONAL_OR_KEYWORD = "positional_or_keyword"


def _from_ast(item: ast.arg, default: ast.expr | None, kind: str) -> dict[str, Any]:
    return parameter(
        item.arg,
        kind=kind,
        default=None if default is None else ast.unparse(default),
        annotation="" if item.annotation is None else ast.unparse(item.annotation),
    )


def without_receiver(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parameters without a leading `self` or `cls`."""
    if parameters and parameters[0]["name"] in _RECEIVERS:
        return parameters[1:]
    return parameters


def stable_repr(value: Any) -> str:
    """Return the `repr` of a value; `...` if it fails, is not code or varies by process."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a default of the library under test may do anything
        return "..."
    return "..." if _UNSTABLE_REPR.search(text) else text


def hint_text(annotation: Any) -> str:
    """Return the text of a type hint."""
    if isinstance(annotation, str):
        return annotation
    if inspect.isclass(annotation) and not hasattr(annotation, "__origin__"):
        return str(annotation.__qualname__)
    return str(annotation).replace("typing.", "")


def describe_parameters(parameters: list[dict[str, Any]], doc: str) -> None:
    """Add the type and description in a docstring to each parameter."""
    descriptions = docstrings.parameters(doc)
    for item in parameters:
        description = descriptions.get(item["name"])
        if description is not None:
            if description.doc_type:
                item["doc_type"] = description.doc_type
            if description.doc:
                item["doc"] = description.doc


def from_docstring(doc: str, name: str) -> list[dict[str, Any]] | None:
    """Return the parameters in the docstring's signature line; None if it has none."""
    arguments = docstrings.signature_arguments(doc, name)
    return None if arguments is None else without_receiver(from_arguments(arguments))


def doc_of(value: Any) -> str:
    """Return the docstring of an object, or an empty string."""
    doc = getattr(value, "__doc__", None)
    return doc if isinstance(doc, str) else ""


def walk(
    root: types.ModuleType,
    *,
    enter: Callable[[types.ModuleType, str], bool],
    failures: list[dict[str, Any]],
) -> Iterator[tuple[str, Any]]:
    """Yield every public name below a module, with its object.

    Args:
        root: the module to begin with; its name is the prefix of all names.
        enter: a function that returns whether to descend into a module, given its public name.
        failures: a list to which records of objects that raise an exception are added.
    """
    pending = [(root, root.__name__)]
    seen_ids = {id(root)}
    while pending:
        module, prefix = pending.pop(0)
        for name in sorted(public_names(module)):
            path = f"{prefix}.{name}"
            try:
                member = getattr(module, name)
            except Exception as error:  # noqa: BLE001 - imports run foreign code; the failure is reported
                failures.append(skipped(path, error))
                continue
            if isinstance(member, types.ModuleType):
                if id(member) not in seen_ids and enter(member, path):
                    seen_ids.add(id(member))
                    pending.append((member, path))
            else:
                yield path, member


def modules(
    names: Iterable[str], *, failures: list[dict[str, Any]]
) -> Iterator[tuple[str, types.ModuleType]]:
    """Yield the modules that this version has; add those that fail to import to `failures`."""
    for name in names:
        try:
            yield name, importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not f"{name}.".startswith(f"{error.name}."):
                # The module itself exists, but it imports a module that is missing.
                failures.append(skipped(name, error))
        except Exception as error:  # noqa: BLE001 - imports run foreign code; the failure is reported
            failures.append(skipped(name, error))


def public_names(module: types.ModuleType) -> list[str]:
    """Return the names in a module's `__all__`, or else those without a leading underscore."""
    declared_names = getattr(module, "__all__", None)
    names = declared_names if isinstance(declared_names, (list, tuple)) else dir(module)
    return [str(name) for name in names if not str(name).startswith("_")]


class PublicNames(dict[str, Any]):
    """Objects by their shortest public name."""

    def __init__(self) -> None:
        super().__init__()
        self.aliases: dict[str, list[str]] = {}
        """Further public names of an object, by its shortest public name."""


def canonical(objects: Iterable[tuple[str, Any]]) -> PublicNames:
    """Return each object by its shortest public name: fewest dots, then fewest characters."""
    by_object: dict[int, tuple[Any, list[str]]] = {}
    for path, value in objects:
        by_object.setdefault(id(value), (value, []))[1].append(path)
    names = PublicNames()
    for value, paths in sorted(
        by_object.values(), key=lambda pair: min(pair[1], key=_name_sort_key)
    ):
        best = min(paths, key=_name_sort_key)
        names[best] = value
        aliases = sorted(set(paths) - {best})
        if aliases:
            names.aliases[best] = aliases
    return names


def _name_sort_key(path: str) -> tuple[int, int, str]:
    return path.count("."), len(path), path
