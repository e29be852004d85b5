"""Order in which a function's arguments are drawn, and when its preconditions can be checked."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from ciguard.functions.solving.alternatives import initial_range
from ciguard.functions.solving.intervals import ANY
from ciguard.functions.solving.parsing import expression_tree, free_names, names_in
from ciguard.functions.solving.quantities import quantity_of
from ciguard.functions.solving.resolving import all_references_of
from ciguard.functions.solving.views import view

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from ciguard.functions.specs.functions import Condition, FunctionSpec
    from ciguard.functions.specs.kinds import Spec


@dataclass(frozen=True, slots=True)
class DrawingPlan:
    """Plan to draw the arguments of one function."""

    order: tuple[str, ...]
    """Names of the arguments, each after the arguments to which its constraint refers."""
    specs: Mapping[str, Spec]
    """Constraints by argument."""
    defaults: Mapping[str, Any]
    """Views of defaults by argument, for arguments that calls leave out."""
    conditions: Mapping[str, tuple[str, ...]]
    """Preconditions by the last drawn argument among those that they name."""
    parts: Mapping[str, tuple[str, ...]]
    """Operands of preconditions with `and`, by the last drawn argument that each operand names."""
    conditions_by_argument: Mapping[str, tuple[ast.expr, ...]]
    """All preconditions that name an argument, by argument."""

    def undrawn_specs(self, drawn: Mapping[str, Any]) -> dict[str, Spec]:
        """Return the constraints of the arguments that are not yet drawn, by argument."""
        return {name: spec for name, spec in self.specs.items() if name not in drawn}

    def conditions_ready_after(self, name: str) -> tuple[str, ...]:
        """Return the preconditions that can be evaluated as soon as `name` is drawn."""
        return self.conditions.get(name, ())

    def parts_ready_after(self, name: str) -> tuple[str, ...]:
        """Return the operands of `and` in preconditions that can be evaluated with `name`."""
        return self.parts.get(name, ())


def plan_of(function: FunctionSpec) -> DrawingPlan:
    """Return the plan to draw a function's arguments; it is computed once per function.

    Raises:
        ValueError: if arguments refer to each other in a cycle.
    """
    cached = _PLANS.get(id(function))
    if cached is None or cached[0] is not function:
        cached = _PLANS[id(function)] = (function, _plan(function))
    return cached[1]


_PLANS: dict[int, tuple[FunctionSpec, DrawingPlan]] = {}


def dependencies_of(function: FunctionSpec) -> dict[str, frozenset[str]]:
    """Return the arguments to which an argument's constraint refers, by argument."""
    specs = {
        parameter.name: parameter.spec
        for parameter in function.parameters
        if parameter.spec is not None
    }
    dependencies = {}
    for name, spec in specs.items():
        names = frozenset[str]().union(*map(names_in, all_references_of(spec)))
        dependencies[name] = names & specs.keys()
    return dependencies


def _plan(function: FunctionSpec) -> DrawingPlan:
    """Compute the plan to draw a function's arguments."""
    specs = {
        parameter.name: parameter.spec
        for parameter in function.parameters
        if parameter.spec is not None
    }
    order = _topologically_sorted(
        with_preferred_order(function, dependencies_of(function)), list(specs)
    )
    position_by_name = {name: position for position, name in enumerate(order)}
    conditions = _by_last_drawn(
        [(condition.text, condition.names) for condition in function.preconditions],
        position_by_name,
    )
    parts = _by_last_drawn(
        [part for condition in function.preconditions for part in _conjuncts(condition)],
        position_by_name,
    )
    defaulted = [
        parameter
        for parameter in function.parameters
        if parameter.spec is None and parameter.default_value is not None
    ]
    defaults = {
        parameter.name: view(parameter.default_value)
        for parameter in defaulted
        if parameter.default_value is not None
    }
    return DrawingPlan(
        tuple(order), specs, defaults, conditions, parts,
        {name: _conditions_naming(function, name) for name in specs},
    )  # fmt: skip


def _by_last_drawn(
    conditions: Iterable[tuple[str, Iterable[str]]], position_by_name: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """Return conditions by the last drawn argument among those that they name.

    Args:
        conditions: pairs of a condition and the names of its arguments.
        position_by_name: position of each argument in the order of drawing.
    """
    grouped: dict[str, list[str]] = {}
    for text, names in conditions:
        named = [name for name in names if name in position_by_name]
        if named:
            grouped.setdefault(max(named, key=position_by_name.__getitem__), []).append(text)
    return {name: tuple(texts) for name, texts in grouped.items()}


def _conjuncts(condition: Condition) -> list[tuple[str, Iterable[str]]]:
    """Return the operands of a condition with `and`, each with the names of its arguments.

    Another condition is returned as a whole.
    """
    tree = expression_tree(condition.text)
    if not isinstance(tree, ast.BoolOp) or not isinstance(tree.op, ast.And):
        return [(condition.text, condition.names)]
    return [(ast.unparse(part), free_names(part)) for part in tree.values]


def _conditions_naming(function: FunctionSpec, name: str) -> tuple[ast.expr, ...]:
    """Return the preconditions that name an argument."""
    trees = [
        expression_tree(condition.text)
        for condition in function.preconditions
        if name in condition.names
    ]
    return tuple(tree for tree in trees if tree is not None)


def with_preferred_order(
    function: FunctionSpec, dependencies: dict[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """Return dependencies, extended by an order in which preconditions are easy to satisfy.

    An argument that stands alone on one side of an equality is drawn after those on the other side.
    A dividend is drawn after its divisor. Preferences that would close a cycle are dropped.
    """
    extended = dict(dependencies)
    trees = [expression_tree(condition.text) for condition in function.preconditions]
    specs = {
        parameter.name: parameter.spec
        for parameter in function.parameters
        if parameter.spec is not None
    }
    for tree in trees:
        for later, earlier in (
            _order_preferences(tree, extended.keys(), specs) if tree is not None else ()
        ):
            if later not in _predecessors(earlier, extended):
                extended[later] = extended[later] | {earlier}
    return extended


def _predecessors(name: str, dependencies: dict[str, frozenset[str]]) -> set[str]:
    """Return an argument, and all arguments that are drawn before it."""
    predecessors: set[str] = set()
    pending = [name]
    while pending:
        current = pending.pop()
        if current not in predecessors:
            predecessors.add(current)
            pending += dependencies[current]
    return predecessors


def _order_preferences(
    tree: ast.expr, names: Container[str], specs: Mapping[str, Spec]
) -> Iterator[tuple[str, str]]:
    """Yield pairs of arguments from a precondition; the first should be drawn after the second."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            yield from _order_pairs(free_names(node.left), free_names(node.right), names)
            yield from _widest_last(free_names(node.left), specs)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.In):
            left, right = node.left, node.comparators[0]
            if quantity_of(left, names, {}) is not None and not _is_quantity(right, names):
                yield from _order_pairs(free_names(left), free_names(right), names)
            elif quantity_of(right, names, {}) is not None and not _is_quantity(left, names):
                yield from _order_pairs(free_names(right), free_names(left), names)


def _widest_last(names: frozenset[str], specs: Mapping[str, Spec]) -> Iterator[tuple[str, str]]:
    """Yield pairs that put the argument with the widest range last.

    A wide range most likely contains a value with the required remainder.
    """
    widths = {}
    for name in names & specs.keys():
        interval = initial_range(specs[name], ("value", name)) or ANY
        widths[name] = interval.high - interval.low
    if widths:
        widest = max(sorted(widths), key=widths.__getitem__)
        yield from ((widest, other) for other in sorted(widths) if other != widest)


def _is_quantity(node: ast.expr, names: Container[str]) -> bool:
    return quantity_of(node, names, {}) is not None


def _order_pairs(
    later: frozenset[str], earlier: frozenset[str], names: Container[str]
) -> Iterator[tuple[str, str]]:
    """Yield all pairs of a later and an earlier argument."""
    for name in sorted(later):
        for other in sorted(earlier - later):
            if name in names and other in names:
                yield name, other


def _topologically_sorted(dependencies: dict[str, frozenset[str]], names: list[str]) -> list[str]:
    graph = {name: sorted(dependencies[name], key=names.index) for name in names}
    sorter = TopologicalSorter(graph)
    try:
        return list(sorter.static_order())
    except CycleError as error:
        msg = f"arguments refer to each other in a cycle: {' → '.join(error.args[1])}"
        raise ValueError(msg) from error
