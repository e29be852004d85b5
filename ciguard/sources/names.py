"""Dotted names in expressions."""

from __future__ import annotations

import ast


def dotted_name(node: ast.AST) -> str:
    """Return the dotted name of an expression such as `a.b.c`; empty for others."""
    root, parts = chain(node)
    return ".".join((root, *parts)) if root else ""


def chain(node: ast.AST) -> tuple[str, list[str]]:
    """Return root and attributes of `a.b.c`; the root is empty if it is not a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), parts[::-1]
