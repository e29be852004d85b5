"""An application as it is followed: its functions, classes, variables, and what it is to meet."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from ciguard.applications.finding.application import MAIN
from ciguard.applications.solving.answers import is_solved_for
from ciguard.applications.solving.objects import Bound, Instance, Kind, Scope
from ciguard.applications.solving.path import Path
from ciguard.applications.solving.terms import UNKNOWN, Raised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.applications.finding.application import Application, Module, Routine
    from ciguard.applications.finding.conditions import Goal
    from ciguard.applications.finding.findings import Found
    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.answers import Answers
    from ciguard.sources import Place

    Follow = Callable[[Bound, Sequence[Any], Mapping[str, Any], "World", Path], Any]


class World:
    """What a path goes through, with one answer of each operation."""

    def __init__(
        self, application: Application, found: Found, answers: Answers, follow: Follow
    ) -> None:
        self._answers = answers
        self._follow = follow
        self._modules = {one.name: one for one in application.modules}
        self._routines: dict[str, tuple[Module, Routine]] = {
            f"{module.name}.{one.name}": (module, one)
            for module in application.modules
            for one in module.routines
        }
        self._bases = {
            f"{module.name}.{name}": bases
            for module in application.modules
            for name, bases in module.classes.items()
        }
        self._asked = {
            (call.answer.file, call.answer.line, call.answer.operation.name): call.answer.operation
            for call in found.calls
        }
        self._goals: dict[str, dict[Place, Goal]] = {}
        for one in found.goals:
            if one.goal.is_condition:
                self._goals.setdefault(one.goal.branch.file, {})[one.goal.place] = one.goal
        self._variables: dict[tuple[str, str], Any] = {}
        self.depth = 0
        """How many of the application's functions call each other now."""

    def goals_in(self, file: str) -> Mapping[Place, Goal]:
        """Return the sub-conditions of a file by their places."""
        return self._goals.get(file, {})

    def operation(self, node: ast.Call, module: Module) -> Operation | None:
        """Return the operation that a call asks a service for, if it does."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return self._asked.get((module.file, node.lineno, name))

    def answer(self, operation: Operation) -> Any:
        """Return what a service answers; UNKNOWN if that is not solved for."""
        return self._answers.answer(operation) if is_solved_for(operation) else UNKNOWN

    def follow(
        self, function: Bound, given: Sequence[Any], named: Mapping[str, Any], path: Path
    ) -> Any:
        """Return what a function of the application returns.

        Raises:
            Raised: what it raises.
        """
        return self._follow(function, given, named, self, path)

    def entry(self, name: str, path: Path) -> Bound | None:
        """Return the function to be followed, of an object if it needs one."""
        if name not in self._routines:
            return None
        module, routine = self._routines[name]
        instance = None
        if routine.is_bound:
            instance = self.made(Kind(f"{module.name}.{routine.owner}"), (), {}, path)
        return Bound(Scope(module), routine, instance)

    def made(
        self, kind: Kind, given: Sequence[Any], named: Mapping[str, Any], path: Path
    ) -> Instance:
        """Return a new object of a class."""
        instance = Instance(kind.name)
        begin = self.attribute(instance, "__init__")
        if isinstance(begin, Bound):
            self.follow(begin, given, named, path)
        return instance

    def attribute(self, instance: Instance, name: str) -> Any:
        """Return a field or a method of an object."""
        if name in instance.fields:
            return instance.fields[name]
        waiting, seen = [instance.kind], set()
        while waiting:
            one = waiting.pop(0)
            if one in seen:
                continue
            seen.add(one)
            if f"{one}.{name}" in self._routines:
                module, routine = self._routines[f"{one}.{name}"]
                return Bound(Scope(module), routine, instance if routine.is_bound else None)
            home = one.rpartition(".")[0]
            bases = self._bases.get(one, ())
            waiting += [base if "." in base else f"{home}.{base}" for base in bases]
        return UNKNOWN

    def value(self, dotted: str, module: Module) -> Any:
        """Return what a name of a module means: a function, a class, a variable."""
        for full in (f"{module.name}.{dotted}", dotted):
            if full in self._routines:
                return Bound(Scope(self._routines[full][0]), self._routines[full][1])
            if full in self._bases:
                return Kind(full)
            home, _, name = full.rpartition(".")
            if home in self._modules:
                found = self._variable(self._modules[home], name)
                if found is not UNKNOWN:
                    return found
        return UNKNOWN

    def _variable(self, module: Module, name: str) -> Any:
        """Return what a module sets a variable to, if it does so once."""
        key = module.name, name
        if key not in self._variables:
            self._variables[key] = UNKNOWN  # while it is looked up itself
            values = [value for target, value in _set(module) if target == name]
            if len(values) == 1:
                self._variables[key] = self._constant(values[0], module)
        return self._variables[key]

    def _constant(self, node: ast.expr, module: Module) -> Any:
        """Return the value of an expression that stands in a module itself."""
        code = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)
        try:
            return self.follow(Bound(Scope(module), code), (), {}, Path({}, math.inf))
        except Raised:
            return UNKNOWN


def _set(module: Module) -> list[tuple[str, ast.expr]]:
    main = next(one for one in module.routines if one.name == MAIN)
    found = []
    for statement in main.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                found.append((name, value))
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                found += [(name, value)] * 2
            case _:
                pass
    return found
