"""Locations of the annotated functions of a module.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import inspect
from typing import Any, Iterator, NamedTuple

from ciguard.functions.in_target.describing.hints import is_hinted
from ciguard.functions.in_target.describing.notes import notes_on


class FunctionLocation(NamedTuple):
    """Location of a function in a module."""

    name: str
    function: Any
    """The plain function; the class, if its constructor is generated."""
    kind: str
    """`function`, `method`, `classmethod`, `staticmethod`, `property` or `constructor`."""
    owner: Any = None
    """Class that the function belongs to."""


def places_of(module: Any, *, bare: bool = False) -> Iterator[FunctionLocation]:
    """Yield the annotated functions of a module; all functions if `bare`."""
    seen: set[int] = set()
    for name, item in list(vars(module).items()):
        if id(item) in seen or getattr(item, "__module__", None) != module.__name__:
            continue
        seen.add(id(item))
        if inspect.isclass(item):
            yield from _members(item, item.__qualname__, bare=bare)
        elif callable(item) and (bare or is_annotated(item)):
            yield FunctionLocation(name, item, "function")


def _members(owner: Any, name: str, *, bare: bool) -> Iterator[FunctionLocation]:
    stated = has_stated_constructor(owner)
    for key, raw in list(vars(owner).items()):
        if key == "__init__" and stated:
            continue
        if inspect.isclass(raw) and raw.__qualname__ == f"{name}.{key}":
            yield from _members(raw, raw.__qualname__, bare=bare)
            continue
        kind, function = _kind_and_function(key, raw)
        if function is not None and (bare or is_annotated(function)):
            yield FunctionLocation(f"{name}.{key}", function, kind, owner)
    if stated or ("__init__" not in vars(owner) and notes_on(owner) is not None):
        yield FunctionLocation(f"{name}.__init__", owner, "constructor", owner)


def has_stated_constructor(owner: Any) -> bool:
    """Return whether annotations on the class itself describe its constructor's arguments."""
    notes = notes_on(owner) or {}
    own = vars(owner).get("__init__")
    return any(notes.get(key) for key in _CALL_NOTES) and not is_annotated(own)


_CALL_NOTES = ("args", "requires", "ensures", "raises", "examples")


def is_annotated(function: Any) -> bool:
    """Return whether a function is to be tested: it has notes, or exact hints."""
    return notes_on(function) is not None or is_hinted(function)


def is_abstract(place: FunctionLocation) -> bool:
    """Return whether the function needs an instance of an abstract class."""
    return place.kind in ("constructor", "method", "property") and inspect.isabstract(place.owner)


def calls_instance(place: FunctionLocation) -> bool:
    """Return whether a method is called through its object: `call` of a layer of Keras.

    A direct call of the method would skip the creation of the layer's weights.
    """
    if place.kind != "method" or place.name.rpartition(".")[2] != "call":
        return False
    return any(
        base.__name__ == "Layer" and base.__module__.partition(".")[0] in _KERAS_PACKAGES
        for base in place.owner.__mro__
    )


_KERAS_PACKAGES = ("keras", "tf_keras", "tensorflow")


def _kind_and_function(key: str, raw: Any) -> tuple[str, Any]:
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
    if has_stated_constructor(owner):
        return FunctionLocation(name, owner, "constructor", owner)
    for base in owner.__mro__[:-1]:
        if "__init__" in vars(base):
            return FunctionLocation(name, vars(base)["__init__"], "constructor", owner)
    return FunctionLocation(name, owner, "constructor", owner)
