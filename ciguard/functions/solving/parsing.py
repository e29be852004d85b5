"""Expressions of arguments, parsed, and the names that they take from outside."""

from __future__ import annotations

import ast
from functools import cache, lru_cache


@cache
def parsed(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression; None if it is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None


@cache
def names_in(text: str) -> frozenset[str]:
    """Return the names that an expression takes from outside."""
    tree = parsed(text)
    return frozenset() if tree is None else free_names(tree)


@lru_cache(maxsize=4096)
def free_names(tree: ast.AST) -> frozenset[str]:
    """Return the names that a part of an expression takes from outside."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return frozenset({node.id for node in names} - bound)


@lru_cache(maxsize=4096)
def needed_names(tree: ast.expr) -> frozenset[str]:
    """Return names without which an expression is worth nothing; none if one of its parts is lazy.

    Whether what it is worth can be told is asked thousands of times for each call that is drawn.
    """
    if any(isinstance(node, _LAZY) and not _is_single(node) for node in ast.walk(tree)):
        return frozenset()
    return free_names(tree)


_LAZY = (
    ast.BoolOp, ast.IfExp, ast.Compare, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.Lambda,
)  # fmt: skip


def _is_single(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1
