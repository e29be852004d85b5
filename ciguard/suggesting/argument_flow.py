"""Tracks which names in a function stand for an argument, or for an item of one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_ITEM_PRESERVING = {"sorted", "reversed", "list", "set"}
"""Functions whose result has the same items as their argument."""


def item_of(name: str) -> str:
    """Return the name that clues use for an item of an argument."""
    return f"{name}[]"


class ArgumentFlow:
    """Tracks arguments through a function until they are rebound."""

    def __init__(self, subject: UnannotatedFunction) -> None:
        """Analyse the loops and assignments of a function."""
        self._parameters = set(subject.parameters)
        self.bound = _rebinding_lines(subject.node)
        """First line at which a name is rebound, by name."""
        self._items = dict(self._loop_variables(subject.node))

    def meaning(self, node: ast.AST | None) -> str:
        """Return the argument that a name stands for, or the name of its item; else empty."""
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self._items:
            return item_of(self._items[node.id])
        # `x = f(x)` still reads the argument.
        is_argument = (
            node.id in self._parameters and self.bound.get(node.id, node.lineno) >= node.lineno
        )
        return node.id if is_argument else ""

    def loop_argument(self, node: ast.For | ast.comprehension) -> str:
        """Return the argument that a loop iterates over; empty if it is none."""
        return next((name for _, name in self._pairs(node.target, node.iter)), "")

    def _loop_variables(self, function: ast.AST) -> Iterator[tuple[str, str]]:
        for node in ast.walk(function):
            if isinstance(node, ast.For | ast.comprehension):
                for variable, name in self._pairs(node.target, node.iter):
                    if variable not in self._parameters:
                        yield variable, name

    def _pairs(self, target: ast.expr, source: ast.expr) -> Iterator[tuple[str, str]]:
        """Yield the variables of a loop with the arguments that they iterate over."""
        match source, target:
            case ast.Name(id=name), ast.Name(id=variable) if name in self._parameters:
                if self.bound.get(name, source.lineno) >= source.lineno:
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
    """Return the line at which each name is first rebound, except by `if x is None: x = …`."""
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
    if isinstance(statement, ast.Assign):
        yield from (
            target
            for target in statement.targets
            if isinstance(target, ast.Name) and target.id == name
        )
