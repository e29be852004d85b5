"""Ranges of the numbers that belong to a call's arguments, and of expressions of them.

The range of an expression follows from those of its operands (forward), and the ranges of operands
from that of the expression (backward). A drawn argument is a number; an argument that will be drawn
later has the range of its constraint.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciguard.functions.solving.alternatives import Key, initial_range
from ciguard.functions.solving.expressions import UnknownError, value_of
from ciguard.functions.solving.intervals import (
    ANY,
    EmptyError,
    Interval,
    add,
    divide,
    dividend_of,
    factor_of,
    floor_divide,
    modulo,
    multiply,
    negate,
    point,
)
from ciguard.functions.solving.parsing import needed_names
from ciguard.functions.solving.quantities import quantity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.functions.specs.kinds import Spec


@dataclass(slots=True)
class Ranges:
    """Ranges of the numbers that belong to one call's arguments."""

    drawn: Mapping[str, Any]
    """Views of the drawn arguments, by name."""
    specs: Mapping[str, Spec]
    """Constraints of the other arguments, by name; for the next argument one of its kinds."""
    ranges: dict[Key, Interval] = field(default_factory=dict)
    """Ranges by number, for the numbers that were needed so far."""
    variable_keys: dict[str, Key] = field(default_factory=dict)
    """Keys by variable of a comprehension, for variables that stand for every item."""

    def range_of(self, key: Key) -> Interval:
        """Return the range of the number with a key; `ANY` if the argument has no such number."""
        interval = self.ranges.get(key)
        if interval is None:
            interval = initial_range(self.specs[key[1]], key)
            if interval is None:
                return ANY
            if key[0] in {"len", "ndim", "dim"}:
                interval = interval.intersection(Interval(low=0, is_whole=True))
            self.ranges[key] = interval
        return interval

    def narrow(self, key: Key, interval: Interval) -> None:
        """Intersect the range of the number with a key with an interval.

        Raises:
            EmptyError: if the intersection is empty, or the argument has no such number.
        """
        known = self.range_of(key)
        if key not in self.ranges:
            raise EmptyError
        self.ranges[key] = known.intersection(interval)

    def needs_undrawn_argument(self, node: ast.expr) -> bool:
        """Return whether the evaluation of an expression needs an argument that is not drawn."""
        return any(name in self.specs and name not in self.drawn for name in needed_names(node))

    def forward(self, node: ast.expr) -> Interval:
        """Return the range of an expression's value; `ANY` if it is not a number."""
        if not self.needs_undrawn_argument(node):
            try:
                value = value_of(node, self.drawn)
            except UnknownError:
                pass
            else:
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                return point(value) if is_number and value == value else ANY  # noqa: PLR0124 - math.isnan fails for huge integers
        key = quantity_of(node, self.specs, self.variable_keys)
        if key is not None:
            return self.range_of(key)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return negate(self.forward(node.operand))
        if isinstance(node, ast.BinOp):
            apply = _RANGE_BY_OPERATOR.get(type(node.op))
            return (
                ANY if apply is None else apply(self.forward(node.left), self.forward(node.right))
            )
        if isinstance(node, ast.Call):
            return self._forward_of_call(node)
        return ANY

    def _forward_of_call(self, node: ast.Call) -> Interval:
        """Return the range of a call's result; `ANY` for unknown functions."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in {"int", "float"} and len(node.args) == 1:
            return Interval(is_whole=name == "int")
        if name not in {"min", "max"} or len(node.args) < 2:  # noqa: PLR2004 - a single argument is an iterable
            return ANY
        parts = [self.forward(argument) for argument in node.args]
        choose = min if name == "min" else max
        low, high = choose(part.low for part in parts), choose(part.high for part in parts)
        return Interval(low, high, all(part.is_whole for part in parts))

    def backward(self, node: ast.expr, interval: Interval) -> None:
        """Narrow the ranges of the numbers in an expression, so that its value lies in an interval.

        Raises:
            EmptyError: if the value cannot lie in the interval.
        """
        interval = interval.intersection(self.forward(node))
        key = quantity_of(node, self.specs, self.variable_keys)
        if key is not None:
            self.narrow(key, interval)
            return
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.backward(node.operand, negate(interval))
            return
        if isinstance(node, ast.BinOp):
            apply = _NARROWER_BY_OPERATOR.get(type(node.op))
            if apply is not None:
                apply(self, node, interval)
            return
        if isinstance(node, ast.Call):
            self._backward_of_call(node, interval)

    def _backward_of_call(self, node: ast.Call, interval: Interval) -> None:
        """Narrow each argument of `min` or `max` by the bound of the result."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in {"min", "max"}:
            return
        bound = Interval(low=interval.low) if name == "min" else Interval(high=interval.high)
        if len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            if node.args[0].id in self.specs:
                self.narrow(("each", node.args[0].id), bound)
        elif len(node.args) > 1:
            for argument in node.args:
                self.backward(argument, bound)

    def _narrow_sum(self, node: ast.BinOp, interval: Interval) -> None:
        """Narrow the operands of a sum."""
        self.backward(node.left, add(interval, negate(self.forward(node.right))))
        self.backward(node.right, add(interval, negate(self.forward(node.left))))

    def _narrow_difference(self, node: ast.BinOp, interval: Interval) -> None:
        """Narrow the operands of a difference."""
        self.backward(node.left, add(interval, self.forward(node.right)))
        self.backward(node.right, add(self.forward(node.left), negate(interval)))

    def _narrow_product(self, node: ast.BinOp, interval: Interval) -> None:
        """Narrow the operands of a product."""
        self.backward(node.left, factor_of(interval, self.forward(node.right)))
        self.backward(node.right, factor_of(interval, self.forward(node.left)))

    def _narrow_quotient(self, node: ast.BinOp, interval: Interval) -> None:
        """Narrow the dividend of a quotient."""
        self.backward(node.left, multiply(interval, self.forward(node.right)))

    def _narrow_floored_quotient(self, node: ast.BinOp, interval: Interval) -> None:
        """Narrow the dividend of a floored quotient."""
        self.backward(node.left, dividend_of(interval, self.forward(node.right)))


_RANGE_BY_OPERATOR: dict[type[ast.operator], Callable[[Interval, Interval], Interval]] = {
    ast.Add: add,
    ast.Sub: lambda left, right: add(left, negate(right)),
    ast.Mult: multiply,
    ast.Div: divide,
    ast.FloorDiv: floor_divide,
    ast.Mod: modulo,
}
_NARROWER_BY_OPERATOR: dict[type[ast.operator], Callable[[Ranges, ast.BinOp, Interval], None]] = {
    ast.Add: Ranges._narrow_sum,  # noqa: SLF001 - a method of a class in this module
    ast.Sub: Ranges._narrow_difference,  # noqa: SLF001 - also a method
    ast.Mult: Ranges._narrow_product,  # noqa: SLF001 - also a method
    ast.Div: Ranges._narrow_quotient,  # noqa: SLF001 - also a method
    ast.FloorDiv: Ranges._narrow_floored_quotient,  # noqa: SLF001 - also a method
}
