"""Ranges of the numbers of a call's arguments, and of expressions of them, in both directions.

Arguments that are drawn are numbers, those that will be drawn later are the ranges of their
constraints.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciguard.functions.solving.alternatives import Key, initial
from ciguard.functions.solving.expressions import UnknownError, value_of
from ciguard.functions.solving.intervals import (
    ANY,
    EmptyError,
    Interval,
    added,
    divided,
    dividend_of,
    factor_of,
    floored,
    multiplied,
    negated,
    point,
    remainders,
)
from ciguard.functions.solving.parsing import needed_names
from ciguard.functions.solving.quantities import quantity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.functions.specs.kinds import Spec


@dataclass(slots=True)
class Ranges:
    """What is known of the numbers of one call."""

    drawn: Mapping[str, Any]
    """Views of the arguments that are drawn."""
    specs: Mapping[str, Spec]
    """Constraints of those that are not; of the one that is drawn next, one of its kinds."""
    ranges: dict[Key, Interval] = field(default_factory=dict)
    bound: dict[str, Key] = field(default_factory=dict)
    """Variables of comprehensions, each of which is every item of an argument."""

    def range_of(self, key: Key) -> Interval:
        """Return the range of a number of an argument."""
        found = self.ranges.get(key)
        if found is None:
            found = initial(self.specs[key[1]], key)
            if found is None:
                return ANY
            if key[0] in {"len", "ndim", "dim"}:
                found = found.meet(Interval(low=0, is_whole=True))
            self.ranges[key] = found
        return found

    def narrow(self, key: Key, interval: Interval) -> None:
        """Take from a number of an argument what an interval does not hold.

        Raises:
            EmptyError: if that is all, or if there is no such number.
        """
        found = self.range_of(key)
        if key not in self.ranges:
            raise EmptyError
        self.ranges[key] = found.meet(interval)

    def is_open(self, node: ast.expr) -> bool:
        """Return whether an expression needs an argument that is not drawn: it is worth nothing."""
        return any(name in self.specs and name not in self.drawn for name in needed_names(node))

    def forward(self, node: ast.expr) -> Interval:
        """Return the range of what an expression may be worth; `ANY` for what is no number."""
        if not self.is_open(node):
            try:
                found = value_of(node, self.drawn)
            except UnknownError:
                pass
            else:
                real = isinstance(found, int | float) and not isinstance(found, bool)
                return point(found) if real and found == found else ANY  # noqa: PLR0124 - not NaN
        key = quantity_of(node, self.specs, self.bound)
        if key is not None:
            return self.range_of(key)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return negated(self.forward(node.operand))
        if isinstance(node, ast.BinOp):
            apply = _FORWARD.get(type(node.op))
            return (
                ANY if apply is None else apply(self.forward(node.left), self.forward(node.right))
            )
        if isinstance(node, ast.Call):
            return self._forward_of_call(node)
        return ANY

    def _forward_of_call(self, node: ast.Call) -> Interval:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in {"int", "float"} and len(node.args) == 1:
            return Interval(is_whole=name == "int")
        if name not in {"min", "max"} or len(node.args) < 2:  # noqa: PLR2004 - else of a list
            return ANY
        parts = [self.forward(argument) for argument in node.args]
        choose = min if name == "min" else max
        low, high = choose(p.low for p in parts), choose(p.high for p in parts)
        return Interval(low, high, all(p.is_whole for p in parts))

    def backward(self, node: ast.expr, wanted: Interval) -> None:
        """Narrow the numbers in an expression, so that it is worth something of an interval.

        Raises:
            EmptyError: if it cannot be.
        """
        wanted = wanted.meet(self.forward(node))
        key = quantity_of(node, self.specs, self.bound)
        if key is not None:
            self.narrow(key, wanted)
            return
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.backward(node.operand, negated(wanted))
            return
        if isinstance(node, ast.BinOp):
            apply = _BACKWARD.get(type(node.op))
            if apply is not None:
                apply(self, node, wanted)
            return
        if isinstance(node, ast.Call):
            self._backward_of_call(node, wanted)

    def _backward_of_call(self, node: ast.Call, wanted: Interval) -> None:
        """Narrow by a bound of a least or greatest one what bounds each."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in {"min", "max"}:
            return
        bound = Interval(low=wanted.low) if name == "min" else Interval(high=wanted.high)
        if len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            if node.args[0].id in self.specs:
                self.narrow(("each", node.args[0].id), bound)
        elif len(node.args) > 1:
            for argument in node.args:
                self.backward(argument, bound)

    def _add_back(self, node: ast.BinOp, wanted: Interval) -> None:
        self.backward(node.left, added(wanted, negated(self.forward(node.right))))
        self.backward(node.right, added(wanted, negated(self.forward(node.left))))

    def _subtract_back(self, node: ast.BinOp, wanted: Interval) -> None:
        self.backward(node.left, added(wanted, self.forward(node.right)))
        self.backward(node.right, added(self.forward(node.left), negated(wanted)))

    def _multiply_back(self, node: ast.BinOp, wanted: Interval) -> None:
        self.backward(node.left, factor_of(wanted, self.forward(node.right)))
        self.backward(node.right, factor_of(wanted, self.forward(node.left)))

    def _divide_back(self, node: ast.BinOp, wanted: Interval) -> None:
        self.backward(node.left, multiplied(wanted, self.forward(node.right)))

    def _floor_back(self, node: ast.BinOp, wanted: Interval) -> None:
        self.backward(node.left, dividend_of(wanted, self.forward(node.right)))


_FORWARD: dict[type[ast.operator], Callable[[Interval, Interval], Interval]] = {
    ast.Add: added,
    ast.Sub: lambda left, right: added(left, negated(right)),
    ast.Mult: multiplied,
    ast.Div: divided,
    ast.FloorDiv: floored,
    ast.Mod: remainders,
}
_BACKWARD: dict[type[ast.operator], Callable[[Ranges, ast.BinOp, Interval], None]] = {
    ast.Add: Ranges._add_back,  # noqa: SLF001 - parts of the class, by operator
    ast.Sub: Ranges._subtract_back,  # noqa: SLF001 - as above
    ast.Mult: Ranges._multiply_back,  # noqa: SLF001 - as above
    ast.Div: Ranges._divide_back,  # noqa: SLF001 - as above
    ast.FloorDiv: Ranges._floor_back,  # noqa: SLF001 - as above
}
