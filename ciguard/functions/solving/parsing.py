"""Parses expressions of arguments, and finds the names in them."""

from __future__ import annotations

import ast
from functools import cache, lru_cache


@cache
def expression_tree(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression; None if the text is not an expression."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None


@cache
def names_in(text: str) -> frozenset[str]:
    """Return the free names in an expression's text; empty if it is not an expression."""
    tree = expression_tree(text)
    return frozenset() if tree is None else free_names(tree)


@lru_cache(maxsize=4096)
def free_names(tree: ast.AST) -> frozenset[str]:
    """Return the free names in a syntax tree: those that no comprehension binds."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return frozenset({node.id for node in names} - bound)


@lru_cache(maxsize=4096)
def needed_names(tree: ast.expr) -> frozenset[str]:
    """Return the names that an evaluation of an expression always needs.

    The result is empty for an expression of which only a part may be evaluated, such as `a or b`.
    It is cached, because drawing one call needs it thousands of times.
    """
    if any(
        isinstance(node, _LAZY_NODES) and not _is_single_comparison(node) for node in ast.walk(tree)
    ):
        return frozenset()
    return free_names(tree)


_LAZY_NODES = (
    ast.BoolOp, ast.IfExp, ast.Compare, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.Lambda,
)  # fmt: skip
"""Expressions that may be evaluated only in part."""


def _is_single_comparison(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1
