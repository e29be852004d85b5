"""Dotted names in expressions."""

from __future__ import annotations

import ast


def dotted_name(node: ast.AST) -> str:
    """Return the dotted name of an expression such as `a.b.c`; empty for other expressions."""
    root, parts = chain(node)
    return ".".join((root, *parts)) if root else ""


def chain(node: ast.AST) -> tuple[str, list[str]]:
    """Return the root and the attributes of an expression: `a` and `["b", "c"]` for `a.b.c`.

    The root is empty if it is not a name, as in `f().b`.
    """
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), parts[::-1]
