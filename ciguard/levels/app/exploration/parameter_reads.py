"""Values of parameters that nothing describes, guessed from how their function reads them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ciguard.domain.values import Json

_TEXT = "text"
"""Value of a field that nothing describes."""


def form_by_reads(
    name: str, body: Sequence[ast.stmt], field_form: Callable[[str], Json | None]
) -> Json:
    """Return the form of a parameter: a dictionary, a value that it is compared with, or a stub.

    Args:
        name: the name of the parameter.
        body: the statements of its function.
        field_form: function that returns the form of a field by its name; None for no guess.
    """
    if keys := keys_read(name, body):
        return {"fields": {key: field_form(key) or {"guess": _TEXT} for key in keys}}
    for node in _nodes(body):
        for value in _compared_values(node, name):
            return {"guess": value}
    return {"stub": name}


def keys_read(name: str, body: Sequence[ast.stmt]) -> tuple[str, ...]:
    """Return the keys that statements read from a dictionary of this name."""
    return tuple(dict.fromkeys(key for node in _nodes(body) for key in _keys_read(node, name)))


def _nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in body for node in ast.walk(statement))


def _keys_read(node: ast.AST, name: str) -> Iterator[str]:
    """Yield the key that an expression reads from a dictionary of this name."""
    match node:
        case (
            ast.Subscript(value=ast.Name(id=read), slice=ast.Constant(value=str(key)))
            | ast.Call(
                func=ast.Attribute(value=ast.Name(id=read), attr="get"),
                args=[ast.Constant(value=str(key)), *_],
            )
        ) if read == name:
            yield key
        case _:
            return


def _compared_values(node: ast.AST, name: str) -> Iterator[str | float]:
    """Yield the literals that a comparison sets beside a variable of this name."""
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    if not any(isinstance(side, ast.Name) and side.id == name for side in sides):
        return
    for side in sides:
        items = side.elts if isinstance(side, ast.List | ast.Tuple | ast.Set) else [side]
        for item in items:
            if isinstance(item, ast.Constant) and isinstance(item.value, str | int | float):
                yield item.value
