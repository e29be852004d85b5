"""Scope of one function under analysis: its variables, and the summary collected so far."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.conditions import (
    Branch,
    Goal,
    one_line_source,
    sub_conditions_of,
    test_of,
    texts_of,
)
from ciguard.levels.app.static_analysis.summaries import Summary
from ciguard.levels.app.static_analysis.values import NOTHING, FunctionParameter, Value, ValueFlow
from ciguard.sources import dotted_name, parse_expression, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from ciguard.levels.app.static_analysis.application import ApplicationModule
    from ciguard.levels.app.static_analysis.conditions import Literal
    from ciguard.levels.app.static_analysis.summaries import AnalysisState, QualifiedRoutine
    from ciguard.levels.app.static_analysis.values import Answer

    _Key = TypeVar("_Key", Goal, Answer)


@dataclass(slots=True)
class FunctionScope:
    """Variables and summary of one function while it is analysed."""

    state: AnalysisState
    function: QualifiedRoutine
    local: dict[str, Value] = field(default_factory=dict)
    summary: Summary = field(default_factory=Summary)

    @property
    def module(self) -> ApplicationModule:
        """The module that the function is in."""
        return self.function.module

    @property
    def qualified_name(self) -> str:
        """The function's qualified name."""
        return self.function.qualified_name

    def enter(self) -> None:
        """Bind the parameters."""
        routine = self.function.routine
        for name in (*routine.parameters(), *routine.catch_all_parameters()):
            flows = frozenset({ValueFlow(FunctionParameter(self.qualified_name, name))})
            self.local[name] = Value(
                flows, self.state.passed_clients.get((self.qualified_name, name), frozenset())
            )
        for name, annotation in routine.annotations():
            self.local[name] |= self.annotated(annotation)
        if routine.is_bound and routine.parameters():
            owner = f"{self.module.name}.{routine.owner}"
            self.local[routine.parameters()[0]] = Value(instances=frozenset({owner}))

    def annotated(self, annotation: ast.expr) -> Value:
        """Return the clients, and the instances of the application's classes, of an annotation.

        The annotation is a type hint, which names the clients and classes.
        """
        value = NOTHING
        for type_name in _annotated_types(annotation):
            name = self.module.names.qualified(type_name)
            own_class = next(filter(self.state.is_class, (f"{self.module.name}.{name}", name)), "")
            clients = frozenset(self.state.clients_created_by(name))
            value |= Value(clients=clients, instances=frozenset({own_class} if own_class else ()))
        return value

    def variable(self, name: str) -> Value:
        """Return the value of a variable: local, enclosing, global or imported; else `NOTHING`."""
        if name in self.local:
            return self.local[name]
        module, outer = self.module.name, self.function.routine.outer
        owners = [f"{module}.{outer}"] if outer else []
        for owner in (*owners, f"{module}.{MAIN}"):
            if (owner, name) in self.state.variables:
                return self.state.variables[owner, name]
        source_module, _, source_name = self.module.names.imported_names.get(name, "").rpartition(
            "."
        )
        return self.state.variables.get((f"{source_module}.{MAIN}", source_name), NOTHING)

    def set(self, name: str, value: Value, *, replaces: bool) -> None:
        """Set the value of a variable.

        Args:
            name: the variable.
            value: its new value.
            replaces: whether the new value replaces the old one; otherwise, the two are joined.
        """
        self.local[name] = value if replaces else self.local.get(name, NOTHING) | value
        self.state.join_variable(self.qualified_name, name, value)

    def has_changed_since(self, before: Mapping[str, Value]) -> bool:
        """Return whether the value of any variable differs from that in `before`."""
        return any(before.get(name) is not value for name, value in self.local.items())

    def join(self, before: Mapping[str, Value]) -> None:
        """Join the values in `before` into the present values of the same variables."""
        for name, value in before.items():
            self.local[name] = value | self.local[name]

    def add_branch_goals(
        self,
        condition: ast.expr,
        value_of: Callable[[ast.expr], Value],
        *,
        literals: Mapping[str, tuple[Literal, ...]] | None = None,
    ) -> None:
        """Add the sub-conditions of a branch as goals, with the flows into them.

        Args:
            condition: the condition of the branch, or an element of `any` or `all`.
            value_of: returns the value of an expression.
            literals: variables of an element that only have literals; None for a branch. Of an
                element, only comparisons with literals are goals.
        """
        is_condition = literals is None
        constants = {**self.module.constants, **(literals or {})}
        sub_conditions = list(sub_conditions_of(condition))
        constant = tuple(
            one_line_source(sub_condition)
            for sub_condition in sub_conditions
            if isinstance(sub_condition, ast.Constant)
        )
        branch = self._branch(condition, one_line_source(condition), constant)
        for index, sub_condition in enumerate(sub_conditions):
            test = test_of(sub_condition, constants)
            if test is None and not is_condition:
                continue
            texts = texts_of(sub_condition, test)
            goal = Goal(
                branch,
                index,
                one_line_source(sub_condition),
                place_of(sub_condition),
                test,
                is_condition=is_condition,
                texts=texts,
            )
            self.add_goals({goal: value_of(sub_condition).flows})

    def add_value_goal(self, node: ast.expr, value: Value, keyword: str) -> None:
        """Add a loop or a `match` as a goal that depends on a value.

        Args:
            node: the iterable, or the subject of the `match`.
            value: its value.
            keyword: words in front of it in the source text, such as `match`.
        """
        text = f"{keyword} {one_line_source(node)}"
        branch = self._branch(node, text)
        goal = Goal(branch, 0, text, place_of(node), is_condition=False)
        self.add_goals({goal: value.flows})

    def _branch(self, node: ast.expr, text: str, constant: tuple[str, ...] = ()) -> Branch:
        place = place_of(node)
        return Branch(self.module.file, *place[:2], text, constant, place)

    def add_goals(self, goals: Mapping[Goal, frozenset[ValueFlow]]) -> None:
        """Add goals with the flows into them; goals without flows are dropped."""
        _add(self.summary.goals, {goal: flows for goal, flows in goals.items() if flows})

    def add_calls(self, call_inputs: Mapping[Answer, frozenset[ValueFlow]]) -> None:
        """Add service calls with the flows of their inputs."""
        _add(self.summary.call_inputs, call_inputs)

    def add_client_sources(self, clients: Mapping[Answer, frozenset[ValueFlow]]) -> None:
        """Add service calls with the flows of their clients; calls without flows are dropped."""
        _add(self.summary.clients, {answer: flows for answer, flows in clients.items() if flows})


def _add(
    known: dict[_Key, frozenset[ValueFlow]], more: Mapping[_Key, frozenset[ValueFlow]]
) -> None:
    for key, flows in more.items():
        known[key] = (Value(known.get(key, frozenset())) | Value(flows)).flows


def _annotated_types(annotation: ast.expr) -> Iterator[ast.expr]:
    """Yield the types that an annotation names, such as `a.B` in `"a.B | None"`.

    Element types of lists and other collections are left out.
    """
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                yield from _annotated_types(parse_expression(text))
            except (SyntaxError, ValueError):  # prose, not a type
                return
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _annotated_types(left)
            yield from _annotated_types(right)
        case ast.Subscript(value=container, slice=argument) if dotted_name(container).endswith(
            "Optional"
        ):
            yield from _annotated_types(argument)
        case ast.Name() | ast.Attribute():
            yield annotation
        case _:
            return
