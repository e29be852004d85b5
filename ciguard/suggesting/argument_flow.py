"""Tracks which names in a function stand for an argument, or for an item of an argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_ITEM_PRESERVING = {"sorted", "reversed", "list", "set"}
"""Built-in functions that return the items of their argument, possibly in another order."""


def item_name(name: str) -> str:
    """Return the name that clues use for the items of an argument, such as `x[]` for `x`."""
    return f"{name}[]"


class ArgumentFlow:
    """Resolves names in a function to arguments, up to the line where the name is rebound."""

    def __init__(self, subject: UnannotatedFunction) -> None:
        """Analyse the loops and assignments of a function."""
        self._parameters = set(subject.parameters)
        self.rebinding_lines = _rebinding_lines(subject.node)
        """Number of the line where a name is first rebound, by name."""
        self._items = dict(self._loop_variables(subject.node))

    def argument_of(self, node: ast.AST | None) -> str:
        """Return the argument for which a name stands; empty if the node is not such a name.

        For a loop variable, return the name of an argument's items; see `item_name`.
        """
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self._items:
            return item_name(self._items[node.id])
        # `x = f(x)` still reads the argument.
        is_argument = (
            node.id in self._parameters
            and self.rebinding_lines.get(node.id, node.lineno) >= node.lineno
        )
        return node.id if is_argument else ""

    def loop_argument(self, node: ast.For | ast.comprehension) -> str:
        """Return the argument over which a loop iterates; empty if it iterates over no argument."""
        return next((name for _, name in self._pairs(node.target, node.iter)), "")

    def _loop_variables(self, function: ast.AST) -> Iterator[tuple[str, str]]:
        """Yield each loop variable, and the argument over which the loop iterates."""
        for node in ast.walk(function):
            if isinstance(node, ast.For | ast.comprehension):
                for variable, name in self._pairs(node.target, node.iter):
                    if variable not in self._parameters:
                        yield variable, name

    def _pairs(self, target: ast.expr, source: ast.expr) -> Iterator[tuple[str, str]]:
        """Yield the variables of a loop, each with the argument over which it iterates.

        Args:
            target: target of the loop: a variable, or a tuple of them.
            source: expression over which the loop iterates.
        """
        match source, target:
            case ast.Name(id=name), ast.Name(id=variable) if name in self._parameters:
                if self.rebinding_lines.get(name, source.lineno) >= source.lineno:
                    yield variable, name
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(
                elts=[_, variable]
            ):
                yield from self._pairs(variable, inner)
            case ast.Call(func=ast.Name(id="zip"), args=sources), ast.Tuple(elts=targets):
                for part, iterated in zip(targets, sources, strict=False):
                    yield from self._pairs(part, iterated)
            case ast.Call(func=ast.Name(id=function), args=[inner, *_]), _ if (
                function in _ITEM_PRESERVING
            ):
                yield from self._pairs(target, inner)
            case _:
                return


def _rebinding_lines(function: ast.AST) -> dict[str, int]:
    """Return the number of the line where each name is first rebound.

    `if x is None: x = …` does not count: it replaces a default.
    """
    defaulting: set[ast.AST] = set()
    lines: dict[str, int] = {}
    for node in ast.walk(function):
        match node:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=None)]),
                body=body,
            ):
                defaulting |= {stored for statement in body for stored in _stores(statement, name)}
            case ast.Name(id=name, ctx=ast.Store()) if node not in defaulting:
                lines[name] = min(node.lineno, lines.get(name, node.lineno))
            case _:
                pass
    return lines


def _stores(statement: ast.stmt, name: str) -> Iterator[ast.AST]:
    """Yield the targets of an assignment that have a given name."""
    if isinstance(statement, ast.Assign):
        yield from (
            target
            for target in statement.targets
            if isinstance(target, ast.Name) and target.id == name
        )
