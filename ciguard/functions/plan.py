"""In which order the arguments of a function are drawn, and what is decided with each."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from ciguard.functions.expressions import names_in, view
from ciguard.functions.resolving import every_reference_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.functions.spec_kinds import Spec
    from ciguard.functions.specs import FunctionSpec


@dataclass(frozen=True, slots=True)
class Plan:
    """How the arguments of one function are drawn."""

    order: tuple[str, ...]
    """Arguments, each after those that its constraint refers to."""
    specs: Mapping[str, Spec]
    defaults: Mapping[str, Any]
    """Views of the arguments that are left out, where their defaults are data."""
    conditions: Mapping[str, tuple[str, ...]]
    """Preconditions by the argument with which the last one that they name is drawn."""

    def decided_with(self, name: str) -> tuple[str, ...]:
        """Return the preconditions that can be answered once `name` is drawn."""
        return self.conditions.get(name, ())


def plan_of(function: FunctionSpec) -> Plan:
    """Return the plan of a function; the same object for the same function.

    Raises:
        ValueError: if its arguments refer to each other in a circle.
    """
    found = _PLANS.get(id(function))
    if found is None or found[0] is not function:
        found = _PLANS[id(function)] = (function, _plan(function))
    return found[1]


_PLANS: dict[int, tuple[FunctionSpec, Plan]] = {}


def needs_of(function: FunctionSpec) -> dict[str, frozenset[str]]:
    """Return the arguments that each argument's constraint refers to."""
    specs = {p.name: p.spec for p in function.parameters if p.spec is not None}
    found = {}
    for name, spec in specs.items():
        named = frozenset[str]().union(*map(names_in, every_reference_of(spec)))
        found[name] = named & specs.keys()
    return found


def _plan(function: FunctionSpec) -> Plan:
    specs = {p.name: p.spec for p in function.parameters if p.spec is not None}
    order = _ordered(needs_of(function), list(specs))
    places = {name: place for place, name in enumerate(order)}
    conditions: dict[str, list[str]] = {}
    for condition in function.requires:
        named = [name for name in condition.names if name in places]
        if named:
            conditions.setdefault(max(named, key=places.__getitem__), []).append(condition.text)
    left_out = [p for p in function.parameters if p.spec is None and p.value is not None]
    defaults = {p.name: view(p.value) for p in left_out if p.value is not None}
    return Plan(tuple(order), specs, defaults, {n: tuple(c) for n, c in conditions.items()})


def _ordered(needs: dict[str, frozenset[str]], names: list[str]) -> list[str]:
    sorter = TopologicalSorter({name: sorted(needs[name], key=names.index) for name in names})
    try:
        return list(sorter.static_order())
    except CycleError as error:
        msg = f"arguments refer to each other in a circle: {' → '.join(error.args[1])}"
        raise ValueError(msg) from error
