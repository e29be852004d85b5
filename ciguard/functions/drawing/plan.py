"""In which order the arguments of a function are drawn, and what is decided with each."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from ciguard.functions.solving.alternatives import initial
from ciguard.functions.solving.intervals import ANY
from ciguard.functions.solving.parsing import free_names, names_in, parsed
from ciguard.functions.solving.quantities import quantity_of
from ciguard.functions.solving.resolving import every_reference_of
from ciguard.functions.solving.views import view

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from ciguard.functions.specs.functions import Condition, FunctionSpec
    from ciguard.functions.specs.kinds import Spec


@dataclass(frozen=True, slots=True)
class DrawingPlan:
    """How the arguments of one function are drawn."""

    order: tuple[str, ...]
    """Arguments, each after those that its constraint refers to."""
    specs: Mapping[str, Spec]
    defaults: Mapping[str, Any]
    """Views of the arguments that are left out, where their defaults are data."""
    conditions: Mapping[str, tuple[str, ...]]
    """Preconditions by the argument with which the last one that they name is drawn."""
    parts: Mapping[str, tuple[str, ...]]
    """Likewise, each part of a conjunction by itself: it may be refused before all is drawn."""
    about: Mapping[str, tuple[ast.expr, ...]]
    """All preconditions that name an argument."""

    def undrawn(self, drawn: Mapping[str, Any]) -> dict[str, Spec]:
        """Return the constraints of the arguments that are not drawn."""
        return {name: spec for name, spec in self.specs.items() if name not in drawn}

    def decided_with(self, name: str) -> tuple[str, ...]:
        """Return the preconditions that can be answered once `name` is drawn."""
        return self.conditions.get(name, ())

    def parts_decided_with(self, name: str) -> tuple[str, ...]:
        """Return the parts of preconditions that can be answered once `name` is drawn."""
        return self.parts.get(name, ())


def plan_of(function: FunctionSpec) -> DrawingPlan:
    """Return the plan of a function; the same object for the same function.

    Raises:
        ValueError: if its arguments refer to each other in a circle.
    """
    found = _PLANS.get(id(function))
    if found is None or found[0] is not function:
        found = _PLANS[id(function)] = (function, _plan(function))
    return found[1]


_PLANS: dict[int, tuple[FunctionSpec, DrawingPlan]] = {}


def needs_of(function: FunctionSpec) -> dict[str, frozenset[str]]:
    """Return the arguments that each argument's constraint refers to."""
    specs = {p.name: p.spec for p in function.parameters if p.spec is not None}
    found = {}
    for name, spec in specs.items():
        named = frozenset[str]().union(*map(names_in, every_reference_of(spec)))
        found[name] = named & specs.keys()
    return found


def _plan(function: FunctionSpec) -> DrawingPlan:
    specs = {p.name: p.spec for p in function.parameters if p.spec is not None}
    order = _ordered(preferred(function, needs_of(function)), list(specs))
    places = {name: place for place, name in enumerate(order)}
    conditions = _by_last([(c.text, c.names) for c in function.requires], places)
    parts = _by_last([part for c in function.requires for part in _parts(c)], places)
    left_out = [p for p in function.parameters if p.spec is None and p.value is not None]
    defaults = {p.name: view(p.value) for p in left_out if p.value is not None}
    return DrawingPlan(
        tuple(order), specs, defaults, conditions, parts,
        {name: _about(function, name) for name in specs},
    )  # fmt: skip


def _by_last(
    conditions: Iterable[tuple[str, Iterable[str]]], places: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for text, names in conditions:
        named = [name for name in names if name in places]
        if named:
            found.setdefault(max(named, key=places.__getitem__), []).append(text)
    return {name: tuple(texts) for name, texts in found.items()}


def _parts(condition: Condition) -> list[tuple[str, Iterable[str]]]:
    """Return what must hold each by itself; where one part raises, no call is valid either way."""
    tree = parsed(condition.text)
    if not isinstance(tree, ast.BoolOp) or not isinstance(tree.op, ast.And):
        return [(condition.text, condition.names)]
    return [(ast.unparse(part), free_names(part)) for part in tree.values]


def _about(function: FunctionSpec, name: str) -> tuple[ast.expr, ...]:
    trees = [parsed(c.text) for c in function.requires if name in c.names]
    return tuple(tree for tree in trees if tree is not None)


def preferred(
    function: FunctionSpec, needs: dict[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """Return the needs, and with them an order in which preconditions are solved best.

    What stands alone on one side of an equality is drawn after what the other side names, and what
    is divided after what it is divided by; unless that closes a circle.
    """
    found = dict(needs)
    trees = [parsed(condition.text) for condition in function.requires]
    specs = {p.name: p.spec for p in function.parameters if p.spec is not None}
    for tree in trees:
        for later, earlier in _wishes(tree, found.keys(), specs) if tree is not None else ():
            if later not in _before(earlier, found):
                found[later] = found[later] | {earlier}
    return found


def _before(name: str, needs: dict[str, frozenset[str]]) -> set[str]:
    """Return what is drawn before an argument, itself included."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += needs[one]
    return seen


def _wishes(
    tree: ast.expr, names: Container[str], specs: Mapping[str, Spec]
) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            yield from _pairs(free_names(node.left), free_names(node.right), names)
            yield from _widest_last(free_names(node.left), specs)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.In):
            left, right = node.left, node.comparators[0]
            if quantity_of(left, names, {}) is not None and not _is_plain(right, names):
                yield from _pairs(free_names(left), free_names(right), names)
            elif quantity_of(right, names, {}) is not None and not _is_plain(left, names):
                yield from _pairs(free_names(right), free_names(left), names)


def _widest_last(names: frozenset[str], specs: Mapping[str, Spec]) -> Iterator[tuple[str, str]]:
    """Leave what is to be divided to the argument with the most values: one of them will do."""
    widths = {}
    for name in names & specs.keys():
        interval = initial(specs[name], ("value", name)) or ANY
        widths[name] = interval.high - interval.low
    if widths:
        widest = max(sorted(widths), key=widths.__getitem__)
        yield from ((widest, other) for other in sorted(widths) if other != widest)


def _is_plain(node: ast.expr, names: Container[str]) -> bool:
    return quantity_of(node, names, {}) is not None


def _pairs(
    later: frozenset[str], earlier: frozenset[str], names: Container[str]
) -> Iterator[tuple[str, str]]:
    for one in sorted(later):
        for other in sorted(earlier - later):
            if one in names and other in names:
                yield one, other


def _ordered(needs: dict[str, frozenset[str]], names: list[str]) -> list[str]:
    sorter = TopologicalSorter({name: sorted(needs[name], key=names.index) for name in names})
    try:
        return list(sorter.static_order())
    except CycleError as error:
        msg = f"arguments refer to each other in a circle: {' → '.join(error.args[1])}"
        raise ValueError(msg) from error
