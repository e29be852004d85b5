"""Recognises expressions for a number of an argument: `len(x)`, `x.shape[0]`, `x.ndim`, `x[1]`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from ciguard.functions.solving.alternatives import Key


def quantity_of(node: ast.expr, names: Container[str], bound: Mapping[str, Key]) -> Key | None:
    """Return the key of the number for which an expression stands; None for other expressions.

    Args:
        node: the expression.
        names: names of the arguments.
        bound: keys by variable, for variables that stand for every item of an argument.
    """
    match node:
        case ast.Name(id=name):
            return bound.get(name) or (("value", name) if name in names else None)
        case ast.Call(func=ast.Name(id="len"), args=[inner]):
            return _length(inner, names)
        case ast.Attribute(value=ast.Name(id=name), attr="ndim") if name in names:
            return ("ndim", name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=arguments):
            return _method(name, method, arguments) if name in names else None
        case ast.Subscript(value=inner):
            return _item(inner, _integer(node.slice), names)
        case _:
            return None


def _length(inner: ast.expr, names: Container[str]) -> Key | None:
    """Return the key of a length; None if the expression has another form."""
    match inner:
        case ast.Name(id=name) if name in names:
            return ("len", name)
        case ast.Attribute(value=ast.Name(id=name), attr="shape") if name in names:
            return ("ndim", name)
        case _:
            return None


def _method(name: str, method: str, arguments: list[ast.expr]) -> Key | None:
    """Return the key of a number that a tensor's method returns; None for other methods."""
    if method == "dim" and not arguments:
        return ("ndim", name)
    axis = _integer(arguments[0]) if len(arguments) == 1 else None
    return ("dim", name, axis) if method == "size" and axis is not None else None


def _item(inner: ast.expr, index: int | None, names: Container[str]) -> Key | None:
    """Return the key of an item, or of a size; None for other subscripts."""
    if index is None:
        return None
    match inner:
        case ast.Name(id=name) if name in names:
            return ("item", name, index)
        case ast.Attribute(value=ast.Name(id=name), attr="shape") if name in names:
            return ("dim", name, index)
        case _:
            return None


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None
