"""Finds the annotated functions of a module.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import inspect
from typing import Any, Iterator, NamedTuple

from ciguard.functions.in_target.describing.hints import has_exact_hints
from ciguard.functions.in_target.describing.notes import notes_on


class FunctionLocation(NamedTuple):
    """A function, and where it is in its module."""

    name: str
    """Name in the module, such as `Tokenizer.fit`."""
    function: Any
    """The function itself, without binding; for a generated constructor, its class."""
    kind: str
    """`function`, `method`, `classmethod`, `staticmethod`, `property` or `constructor`."""
    owner: Any = None
    """Class of the method or constructor; None for a function."""


def locations_of(module: Any, *, include_unannotated: bool = False) -> Iterator[FunctionLocation]:
    """Yield the annotated functions of a module, or all its functions."""
    visited: set[int] = set()
    for name, item in list(vars(module).items()):
        if id(item) in visited or getattr(item, "__module__", None) != module.__name__:
            continue
        visited.add(id(item))
        if inspect.isclass(item):
            yield from _members(item, item.__qualname__, include_unannotated=include_unannotated)
        elif callable(item) and (include_unannotated or is_annotated(item)):
            yield FunctionLocation(name, item, "function")


def _members(owner: Any, name: str, *, include_unannotated: bool) -> Iterator[FunctionLocation]:
    """Yield the methods and constructors of a class and its nested classes."""
    stated = has_annotated_class(owner)
    for key, raw in list(vars(owner).items()):
        if key == "__init__" and stated:
            continue
        if inspect.isclass(raw) and raw.__qualname__ == f"{name}.{key}":
            yield from _members(raw, raw.__qualname__, include_unannotated=include_unannotated)
            continue
        kind, function = _kind_and_function(key, raw)
        if function is not None and (include_unannotated or is_annotated(function)):
            yield FunctionLocation(f"{name}.{key}", function, kind, owner)
    if stated or ("__init__" not in vars(owner) and notes_on(owner) is not None):
        yield FunctionLocation(f"{name}.__init__", owner, "constructor", owner)


def has_annotated_class(owner: Any) -> bool:
    """Return whether annotations on the class itself describe its constructor's arguments."""
    notes = notes_on(owner) or {}
    constructor = vars(owner).get("__init__")
    return any(notes.get(key) for key in _CALL_NOTES) and not is_annotated(constructor)


_CALL_NOTES = ("args", "requires", "ensures", "raises", "examples")


def is_annotated(function: Any) -> bool:
    """Return whether a function is annotated: by notes, or by exact hints."""
    return notes_on(function) is not None or has_exact_hints(function)


def is_abstract(location: FunctionLocation) -> bool:
    """Return whether a call of the function needs an instance of an abstract class."""
    return location.kind in ("constructor", "method", "property") and inspect.isabstract(
        location.owner
    )


def is_called_through_instance(location: FunctionLocation) -> bool:
    """Return whether a method is called by a call of its object: `call` of a Keras layer.

    A direct call of the method would not create the layer's weights.
    """
    if location.kind != "method" or location.name.rpartition(".")[2] != "call":
        return False
    return any(
        base.__name__ == "Layer" and base.__module__.partition(".")[0] in _KERAS_PACKAGES
        for base in location.owner.__mro__
    )


_KERAS_PACKAGES = ("keras", "tf_keras", "tensorflow")


def _kind_and_function(key: str, raw: Any) -> tuple[str, Any]:
    """Return the kind and the unbound function of a class attribute; empty for others."""
    if isinstance(raw, (staticmethod, classmethod)):
        return type(raw).__name__, raw.__func__
    if isinstance(raw, property) or type(raw).__name__ == "cached_property":
        return "property", getattr(raw, "fget", None) or getattr(raw, "func", None)
    if key == "__init__":
        return "constructor", raw
    return ("method", raw) if callable(raw) and not inspect.isclass(raw) else ("", None)


def constructor_of(owner: Any) -> FunctionLocation:
    """Return the location of the constructor of a class."""
    name = f"{owner.__qualname__}.__init__"
    if has_annotated_class(owner):
        return FunctionLocation(name, owner, "constructor", owner)
    for base in owner.__mro__[:-1]:
        if "__init__" in vars(base):
            return FunctionLocation(name, vars(base)["__init__"], "constructor", owner)
    return FunctionLocation(name, owner, "constructor", owner)
