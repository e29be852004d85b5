"""Numbers of arguments in expressions: `x`, `len(x)`, `x.shape[0]`, `x.ndim`, `x[1]`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from ciguard.functions.solving.alternatives import Key


def quantity_of(node: ast.expr, names: Container[str], bound: Mapping[str, Key]) -> Key | None:
    """Return the key of the number that a part of an expression is, None if it is none.

    Args:
        node: the part.
        names: of the arguments.
        bound: variables that stand for each item of an argument.
    """
    match node:
        case ast.Name(id=name):
            return bound.get(name) or (("value", name) if name in names else None)
        case ast.Call(func=ast.Name(id="len"), args=[inner]):
            return _length(inner, names)
        case ast.Attribute(value=ast.Name(id=name), attr="ndim") if name in names:
            return ("ndim", name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=given):
            return _method(name, method, given) if name in names else None
        case ast.Subscript(value=inner):
            return _item(inner, _integer(node.slice), names)
        case _:
            return None


def _length(inner: ast.expr, names: Container[str]) -> Key | None:
    match inner:
        case ast.Name(id=name) if name in names:
            return ("len", name)
        case ast.Attribute(value=ast.Name(id=name), attr="shape") if name in names:
            return ("ndim", name)
        case _:
            return None


def _method(name: str, method: str, given: list[ast.expr]) -> Key | None:
    if method == "dim" and not given:
        return ("ndim", name)
    axis = _integer(given[0]) if len(given) == 1 else None
    return ("dim", name, axis) if method == "size" and axis is not None else None


def _item(inner: ast.expr, place: int | None, names: Container[str]) -> Key | None:
    if place is None:
        return None
    match inner:
        case ast.Name(id=name) if name in names:
            return ("item", name, place)
        case ast.Attribute(value=ast.Name(id=name), attr="shape") if name in names:
            return ("dim", name, place)
        case _:
            return None


def _integer(node: ast.expr) -> int | None:
    try:
        found = ast.literal_eval(node)
    except ValueError:
        return None
    return found if type(found) is int else None
