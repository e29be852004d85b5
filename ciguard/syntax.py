"""What rooms that read Python source share."""

from __future__ import annotations

import ast


def dotted_name(node: ast.AST) -> str:
    """Return `a.b.c` of a name or attributes of one; empty for any other expression."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            head = dotted_name(value)
            return f"{head}.{attr}" if head else ""
        case _:
            return ""
