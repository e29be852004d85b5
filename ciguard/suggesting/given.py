"""Which names in a function stand for what its caller gave: an argument, or an item of one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_THROUGH = {"sorted", "reversed", "list", "set"}
"""Functions that hand on the items of what they are given."""


def item_of(name: str) -> str:
    """Return how clues call an item of an argument."""
    return f"{name}[]"


class ArgumentFlow:
    """Follows arguments through a function until they are bound anew."""

    def __init__(self, subject: UnannotatedFunction) -> None:
        """Look at a function once."""
        self._own = set(subject.parameters)
        self.bound = _bound_anew(subject.node)
        """First line where a name gets another value than the caller's."""
        self._items = dict(self._looped(subject.node))

    def meaning(self, node: ast.AST | None) -> str:
        """Return the argument, or item of one, that a name stands for; empty if it is none."""
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self._items:
            return item_of(self._items[node.id])
        # `x = f(x)` still reads what was given.
        is_given = node.id in self._own and self.bound.get(node.id, node.lineno) >= node.lineno
        return node.id if is_given else ""

    def looped(self, node: ast.For | ast.comprehension) -> str:
        """Return the argument that a loop goes through; empty if it is none."""
        return next((name for _, name in self._pairs(node.target, node.iter)), "")

    def _looped(self, function: ast.AST) -> Iterator[tuple[str, str]]:
        for node in ast.walk(function):
            if isinstance(node, ast.For | ast.comprehension):
                for variable, name in self._pairs(node.target, node.iter):
                    if variable not in self._own:
                        yield variable, name

    def _pairs(self, target: ast.expr, source: ast.expr) -> Iterator[tuple[str, str]]:
        """Yield variables of a loop and the arguments whose items they are."""
        match source, target:
            case ast.Name(id=name), ast.Name(id=variable) if name in self._own:
                if self.bound.get(name, source.lineno) >= source.lineno:
                    yield variable, name
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(
                elts=[_, variable]
            ):
                yield from self._pairs(variable, inner)
            case ast.Call(func=ast.Name(id="zip"), args=sources), ast.Tuple(elts=targets):
                for one, other in zip(targets, sources, strict=False):
                    yield from self._pairs(one, other)
            case ast.Call(func=ast.Name(id=through), args=[inner, *_]), _ if through in _THROUGH:
                yield from self._pairs(target, inner)
            case _:
                return


def _bound_anew(function: ast.AST) -> dict[str, int]:
    """Return where names are bound first, but for `if x is None: x = …`."""
    filled: set[ast.AST] = set()
    found: dict[str, int] = {}
    for node in ast.walk(function):
        match node:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=None)]),
                body=body,
            ):
                filled |= {stored for one in body for stored in _stores(one, name)}
            case ast.Name(id=name, ctx=ast.Store()) if node not in filled:
                found[name] = min(node.lineno, found.get(name, node.lineno))
            case _:
                pass
    return found


def _stores(statement: ast.stmt, name: str) -> Iterator[ast.AST]:
    if isinstance(statement, ast.Assign):
        yield from (
            target
            for target in statement.targets
            if isinstance(target, ast.Name) and target.id == name
        )
