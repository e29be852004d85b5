"""Scope of one function under analysis: its variables, and the summary collected so far."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.conditions import (
    Branch,
    Goal,
    parts,
    test_of,
    texts_of,
    written,
)
from ciguard.levels.app.static_analysis.summaries import Summary
from ciguard.levels.app.static_analysis.values import NOTHING, FunctionParameter, Value, ValueFlow
from ciguard.sources import dotted_name, parse_expression, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from ciguard.levels.app.static_analysis.application import ApplicationModule
    from ciguard.levels.app.static_analysis.summaries import AnalysisState, PlacedRoutine
    from ciguard.levels.app.static_analysis.values import Answer

    _Key = TypeVar("_Key", Goal, Answer)


@dataclass(slots=True)
class FunctionScope:
    """Variables and summary of one function while it is analysed."""

    world: AnalysisState
    placed: PlacedRoutine
    local: dict[str, Value] = field(default_factory=dict)
    summary: Summary = field(default_factory=Summary)

    @property
    def module(self) -> ApplicationModule:
        """The module that the function is in."""
        return self.placed.module

    @property
    def own(self) -> str:
        """The function's qualified name."""
        return self.placed.qualified

    def enter(self) -> None:
        """Bind the parameters."""
        routine = self.placed.routine
        for name in (*routine.parameters(), *routine.rest()):
            flows = frozenset({ValueFlow(FunctionParameter(self.own, name))})
            self.local[name] = Value(flows, self.world.passed.get((self.own, name), frozenset()))
        for name, annotation in routine.annotations():
            self.local[name] |= self.annotated(annotation)
        if routine.is_bound and routine.parameters():
            owner = f"{self.module.name}.{routine.owner}"
            self.local[routine.parameters()[0]] = Value(instances=frozenset({owner}))

    def annotated(self, annotation: ast.expr) -> Value:
        """Return the client, or the application's instance, that an annotation names."""
        value = NOTHING
        for type_name in _annotated_types(annotation):
            name = self.module.names.qualified(type_name)
            own = next(filter(self.world.is_class, (f"{self.module.name}.{name}", name)), "")
            clients = frozenset(self.world.makers(name))
            value |= Value(clients=clients, instances=frozenset({own} if own else ()))
        return value

    def variable(self, name: str) -> Value:
        """Return the value of a name: local, of an outer function, of the module, or imported."""
        if name in self.local:
            return self.local[name]
        module, outer = self.module.name, self.placed.routine.outer
        owners = [f"{module}.{outer}"] if outer else []
        for owner in (*owners, f"{module}.{MAIN}"):
            if (owner, name) in self.world.variables:
                return self.world.variables[owner, name]
        source_module, _, source_name = self.module.names.meanings.get(name, "").rpartition(".")
        return self.world.variables.get((f"{source_module}.{MAIN}", source_name), NOTHING)

    def set(self, name: str, value: Value, *, replaces: bool) -> None:
        """Set the value of a variable.

        Args:
            name: the variable.
            value: its new value.
            replaces: whether the previous value is gone; otherwise the variable may hold either.
        """
        self.local[name] = value if replaces else self.local.get(name, NOTHING) | value
        self.world.set_variable(self.own, name, value)

    def grown_since(self, before: Mapping[str, Value]) -> bool:
        """Return whether the value of a variable has changed since `before`."""
        return any(before.get(name) is not value for name, value in self.local.items())

    def join(self, before: Mapping[str, Value]) -> None:
        """Join the values that variables had before into their present values."""
        for name, value in before.items():
            self.local[name] = value | self.local[name]

    def decide(self, condition: ast.expr, of: Callable[[ast.expr], Value]) -> None:
        """Add the sub-conditions of a branch as goals, with the flows that they depend on.

        Args:
            condition: the condition of the branch.
            of: returns the value of an expression.
        """
        sub_conditions = list(parts(condition))
        constant = tuple(written(part) for part in sub_conditions if isinstance(part, ast.Constant))
        branch = self._branch(condition, written(condition), constant)
        for at, part in enumerate(sub_conditions):
            test = test_of(part, self.module.constants)
            texts = texts_of(part, test)
            goal = Goal(branch, at, written(part), place_of(part), test, texts=texts)
            self.reach({goal: of(part).flows})

    def decide_by(self, node: ast.expr, value: Value, before: str) -> None:
        """Add a loop or a `match` as a goal that depends on a value.

        Args:
            node: the iterable, or the subject of the `match`.
            value: its value.
            before: words in front of it, such as `match`.
        """
        text = f"{before} {written(node)}"
        branch = self._branch(node, text)
        goal = Goal(branch, 0, text, place_of(node), is_condition=False)
        self.reach({goal: value.flows})

    def _branch(self, node: ast.expr, text: str, constant: tuple[str, ...] = ()) -> Branch:
        place = place_of(node)
        return Branch(self.module.file, *place[:2], text, constant, place)

    def reach(self, goals: Mapping[Goal, frozenset[ValueFlow]]) -> None:
        """Add goals with the flows that they depend on; goals without flows are dropped."""
        _add(self.summary.goals, {goal: flows for goal, flows in goals.items() if flows})

    def ask(self, asked: Mapping[Answer, frozenset[ValueFlow]]) -> None:
        """Add calls of services with the flows of their inputs."""
        _add(self.summary.asked, asked)

    def ask_by(self, clients: Mapping[Answer, frozenset[ValueFlow]]) -> None:
        """Add the sources of the clients of calls, where these come from outside the function."""
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
            except (SyntaxError, ValueError):  # words
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
