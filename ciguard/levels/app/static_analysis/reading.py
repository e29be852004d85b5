"""Follows values through the statements of one function, in whatever branch they stand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.constructing import (
    constructor_name,
    has_generated_constructor,
)
from ciguard.levels.app.static_analysis.expressions import Expressions, names_in
from ciguard.levels.app.static_analysis.scope import FunctionScope
from ciguard.levels.app.static_analysis.values import EACH, FunctionParameter, Value, ValueFlow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.levels.app.static_analysis.summaries import Placed, Summary, World


def read(world: World, placed: Placed) -> Summary:
    """Return what a function does, as far as is known now of what it calls."""
    scope = FunctionScope(world, placed)
    scope.enter()
    reading = _Reading(scope)
    for statement in placed.routine.body:
        reading.statement(statement)
    return scope.summary


class _Reading:
    """The statements of one function."""

    def __init__(self, scope: FunctionScope) -> None:
        self._scope = scope
        self._expressions = Expressions(scope)
        self._of, self._bind = self._expressions.of, self._expressions.bind
        self._assigned = self._expressions.assigned
        self._depth = 0

    def statement(self, node: ast.stmt) -> None:
        """Read one statement."""
        self._expressions.forget()
        replaces = not self._depth
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.Return(value=value):
                self._scope.summary.returned |= self._assigned(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values) and not _are_unpacked(*targets, *values):
                for target, found in zip(targets, list(map(self._assigned, values)), strict=True):
                    self._bind(target, found, replaces=replaces)
            case ast.Assign(targets=targets, value=value):
                found = self._assigned(value)
                for target in targets:
                    self._bind(target, found, replaces=replaces)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._bind(target, self._assigned(value), replaces=replaces)
            case ast.AugAssign(target=target, op=op, value=value):
                self._bind(target, (self._of(target) | self._of(value)).then(type(op).__name__))
            case _:
                self._compound(node)

    def _block(self, body: Iterable[ast.stmt]) -> None:
        """Read statements that are run now and then: what was before them may still hold after."""
        self._depth += 1
        for statement in body:
            self.statement(statement)
        self._depth -= 1

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Read what a definition does at once; a class's variables are its objects' too."""
        for decorator in node.decorator_list:
            self._of(decorator)
        if isinstance(node, ast.ClassDef):
            name = f"{self._scope.module.name}.{node.name}"
            for statement in node.body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=field)], value=value):
                        self._scope.world.set_field(name, field, self._assigned(value))
                    case ast.AnnAssign(target=ast.Name(id=field), value=value, annotation=written):
                        found = self._assigned(value) | self._scope.annotated(written)
                        if has_generated_constructor(node):
                            given = FunctionParameter(constructor_name(name), field)
                            found |= Value(frozenset({ValueFlow(given)}))
                        self._scope.world.set_field(name, field, found)
                    case _:
                        pass

    def _compound(self, node: ast.stmt) -> None:
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self._loop(node)
            return
        self._head(node)
        if isinstance(node, ast.With | ast.AsyncWith):
            for statement in node.body:
                self.statement(statement)
            return
        for part in ("body", "orelse", "finalbody"):
            self._block(getattr(node, part, []))
        for inner in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            self._block(inner.body)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Read a loop, again if its end sets what its beginning has the next time."""
        known = dict(self._scope.local)
        self._once_around(node)
        if self._scope.grown_since(known):
            self._once_around(node)
        self._block(node.orelse)

    def _once_around(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Read the body of a loop, in which its variables are what it goes over alone."""
        if isinstance(node, ast.While):
            self._head(node)
            self._block(node.body)
            return
        found = self._of(node.iter)
        self._scope.decide_by(node.iter, found, f"for {ast.unparse(node.target)} in")
        names = names_in(node.target)
        before = {name: known for name in names if (known := self._scope.local.get(name))}
        self._bind(node.target, found.then(EACH), replaces=True)
        self._block(node.body)
        self._scope.again(before)

    def _head(self, node: ast.stmt) -> None:
        """Read what a statement does before its blocks, if it has any."""
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                self._scope.decide(test, self._of)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    self._bind(item.optional_vars, self._of(item.context_expr))
            case ast.Match(subject=subject):
                self._scope.decide_by(subject, self._of(subject), "match")
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._of(child)


def _are_unpacked(*parts: ast.expr) -> bool:
    return any(isinstance(one, ast.Starred) for one in parts)
