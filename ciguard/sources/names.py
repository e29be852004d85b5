"""Dotted names, as expressions have them."""

from __future__ import annotations

import ast


def dotted_name(node: ast.AST) -> str:
    """Return `a.b.c` of a name or attributes of one; empty for any other expression."""
    root, parts = chain(node)
    return ".".join((root, *parts)) if root else ""


def chain(node: ast.AST) -> tuple[str, list[str]]:
    """Return root and attributes of `a.b.c`; the root is empty where it is no name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), parts[::-1]
