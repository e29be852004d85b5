"""Data flow through the statements of one function, over all its branches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.constructors import (
    constructor_name,
    has_generated_constructor,
)
from ciguard.levels.app.static_analysis.expressions import Expressions, names_in
from ciguard.levels.app.static_analysis.scope import FunctionScope
from ciguard.levels.app.static_analysis.values import (
    DECIDES,
    EACH,
    NOTHING,
    Answer,
    FunctionParameter,
    Value,
    ValueFlow,
    join_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.levels.app.static_analysis.summaries import (
        AnalysisState,
        QualifiedRoutine,
        Summary,
    )


def analyse_function(state: AnalysisState, function: QualifiedRoutine) -> Summary:
    """Return the summary of a function, given the present summaries of its callees."""
    scope = FunctionScope(state, function)
    scope.enter()
    interpreter = _StatementInterpreter(scope)
    for statement in function.routine.body:
        interpreter.statement(statement)
    return scope.summary


class _StatementInterpreter:
    """Interpret the statements of one function abstractly."""

    def __init__(self, scope: FunctionScope) -> None:
        self._scope = scope
        self._expressions = Expressions(scope)
        self._value, self._bind = self._expressions.value_of, self._expressions.bind
        self._assigned_value = self._expressions.assigned_value
        self._depth = 0
        self._conditions: list[Value] = []
        """Values of the conditions of the branches around the current statement."""

    def statement(self, node: ast.stmt) -> None:
        """Interpret one statement."""
        self._expressions.forget()
        replaces = not self._depth
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.Return(value=value):
                self._scope.summary.returned |= self._assigned_value(value) | self._decided(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values) and not _has_starred(*targets, *values):
                for target, assigned in zip(
                    targets, list(map(self._assigned_value, values)), strict=True
                ):
                    self._bind(target, assigned, replaces=replaces)
            case ast.Assign(targets=targets, value=value):
                assigned = self._assigned_value(value) | self._decided(value)
                for target in targets:
                    self._bind(target, assigned, replaces=replaces)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._bind(target, self._assigned_value(value), replaces=replaces)
            case ast.AugAssign(target=target, op=op, value=value):
                changed = (self._value(target) | self._value(value)).then(type(op).__name__)
                self._bind(target, changed | self._decided(value))
            case _:
                self._compound(node)

    def _decided(self, value: ast.expr | None) -> Value:
        """Return the answers that decide whether a literal is assigned or returned here."""
        return join_values(self._conditions) if isinstance(value, ast.Constant) else NOTHING

    def _block(self, body: Iterable[ast.stmt]) -> None:
        """Interpret statements that may not run; variables may keep their previous values."""
        self._depth += 1
        for statement in body:
            self.statement(statement)
        self._depth -= 1

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Interpret decorators and class variables, which are also fields of the instances."""
        for decorator in node.decorator_list:
            self._value(decorator)
        if isinstance(node, ast.ClassDef):
            name = f"{self._scope.module.name}.{node.name}"
            for statement in node.body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=field)], value=value):
                        self._scope.state.join_field(name, field, self._assigned_value(value))
                    case ast.AnnAssign(
                        target=ast.Name(id=field), value=value, annotation=annotation
                    ):
                        field_value = self._assigned_value(value) | self._scope.annotated(
                            annotation
                        )
                        if has_generated_constructor(node):
                            parameter = FunctionParameter(constructor_name(name), field)
                            field_value |= Value(frozenset({ValueFlow(parameter)}))
                        self._scope.state.join_field(name, field, field_value)
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
        if isinstance(node, ast.If):
            flows = (flow.then(DECIDES) for flow in self._value(node.test).flows)
            answers = (flow for flow in flows if flow and isinstance(flow.source, Answer))
            self._conditions.append(Value(frozenset(answers)))
        for part in ("body", "orelse", "finalbody"):
            self._block(getattr(node, part, []))
        if isinstance(node, ast.If):
            self._conditions.pop()
        for inner in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            self._block(inner.body)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Interpret a loop, twice if its body changes variables that the next iteration reads."""
        before = dict(self._scope.local)
        self._iteration(node)
        if self._scope.has_changed_since(before):
            self._iteration(node)
        self._block(node.orelse)

    def _iteration(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Interpret a loop's body once, with its variables bound to elements of the iterable."""
        if isinstance(node, ast.While):
            self._head(node)
            self._block(node.body)
            return
        iterable = self._value(node.iter)
        self._scope.add_value_goal(node.iter, iterable, f"for {ast.unparse(node.target)} in")
        names = names_in(node.target)
        values_before = {name: value for name in names if (value := self._scope.local.get(name))}
        self._bind(node.target, iterable.then(EACH), replaces=True)
        self._block(node.body)
        self._scope.join(values_before)

    def _head(self, node: ast.stmt) -> None:
        """Interpret the expressions that a compound statement evaluates before its blocks."""
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                self._scope.add_branch_goals(test, self._value)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    self._bind(item.optional_vars, self._value(item.context_expr))
            case ast.Match(subject=subject):
                self._scope.add_value_goal(subject, self._value(subject), "match")
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._value(child)


def _has_starred(*parts: ast.expr) -> bool:
    return any(isinstance(part, ast.Starred) for part in parts)
