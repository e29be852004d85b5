"""What is known within one function: its variables, and what it was seen to do."""

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
    from ciguard.levels.app.static_analysis.summaries import Placed, World
    from ciguard.levels.app.static_analysis.values import Answer

    _Key = TypeVar("_Key", Goal, Answer)


@dataclass(slots=True)
class FunctionScope:
    """Of one function while it is read."""

    world: World
    placed: Placed
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
        """Return the client, or the application's object, that an annotation says is there."""
        found = NOTHING
        for one in _named_in(annotation):
            name = self.module.names.qualified(one)
            own = next(filter(self.world.is_class, (f"{self.module.name}.{name}", name)), "")
            clients = frozenset(self.world.makers(name))
            found |= Value(clients=clients, instances=frozenset({own} if own else ()))
        return found

    def variable(self, name: str) -> Value:
        """Return what a name may be: its own, of a function around it, the module's, imported."""
        if name in self.local:
            return self.local[name]
        module, outer = self.module.name, self.placed.routine.outer
        owners = [f"{module}.{outer}"] if outer else []
        for owner in (*owners, f"{module}.{MAIN}"):
            if (owner, name) in self.world.variables:
                return self.world.variables[owner, name]
        home, _, there = self.module.names.meanings.get(name, "").rpartition(".")
        return self.world.variables.get((f"{home}.{MAIN}", there), NOTHING)

    def set(self, name: str, value: Value, *, replaces: bool) -> None:
        """Note what a variable may be from now on."""
        self.local[name] = value if replaces else self.local.get(name, NOTHING) | value
        self.world.set_variable(self.own, name, value)

    def grown_since(self, before: Mapping[str, Value]) -> bool:
        """Return whether variables may be more than they could be before."""
        return any(before.get(name) is not value for name, value in self.local.items())

    def again(self, before: Mapping[str, Value]) -> None:
        """Have variables be what they were before, too."""
        for name, value in before.items():
            self.local[name] = value | self.local[name]

    def decide(self, condition: ast.expr, of: Callable[[ast.expr], Value]) -> None:
        """Note what the sub-conditions of a branch depend on.

        Args:
            condition: of the branch.
            of: says what an expression may be.
        """
        several = list(parts(condition))
        constant = tuple(written(one) for one in several if isinstance(one, ast.Constant))
        branch = self._branch(condition, written(condition), constant)
        for at, part in enumerate(several):
            test = test_of(part, self.module.constants)
            texts = texts_of(part, test)
            goal = Goal(branch, at, written(part), place_of(part), test, texts=texts)
            self.reach({goal: of(part).flows})

    def decide_by(self, node: ast.expr, value: Value, before: str) -> None:
        """Note that a loop or a `match` depends on a value.

        Args:
            node: whose value it is.
            value: that it has.
            before: words in front of it.
        """
        text = f"{before} {written(node)}"
        branch = self._branch(node, text)
        goal = Goal(branch, 0, text, place_of(node), is_condition=False)
        self.reach({goal: value.flows})

    def _branch(self, node: ast.expr, text: str, constant: tuple[str, ...] = ()) -> Branch:
        place = place_of(node)
        return Branch(self.module.file, *place[:2], text, constant, place)

    def reach(self, goals: Mapping[Goal, frozenset[ValueFlow]]) -> None:
        """Note goals and what they depend on, if that is anything."""
        _add(self.summary.goals, {goal: flows for goal, flows in goals.items() if flows})

    def ask(self, asked: Mapping[Answer, frozenset[ValueFlow]]) -> None:
        """Note calls of services and what they are given."""
        _add(self.summary.asked, asked)

    def ask_by(self, clients: Mapping[Answer, frozenset[ValueFlow]]) -> None:
        """Note where clients come from that services are called by, if from outside."""
        _add(self.summary.clients, {answer: flows for answer, flows in clients.items() if flows})


def _add(
    known: dict[_Key, frozenset[ValueFlow]], more: Mapping[_Key, frozenset[ValueFlow]]
) -> None:
    for key, flows in more.items():
        known[key] = (Value(known.get(key, frozenset())) | Value(flows)).flows


def _named_in(annotation: ast.expr) -> Iterator[ast.expr]:
    """Yield the names that an annotation says a value is of: `a.B` of `"a.B | None"` and the like.

    Nothing of what is in a list or another collection.
    """
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                yield from _named_in(parse_expression(text))
            except (SyntaxError, ValueError):  # words
                return
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _named_in(left)
            yield from _named_in(right)
        case ast.Subscript(value=held, slice=inner) if dotted_name(held).endswith("Optional"):
            yield from _named_in(inner)
        case ast.Name() | ast.Attribute():
            yield annotation
        case _:
            return
