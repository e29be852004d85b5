"""Solves preconditions for the argument that is drawn next, by narrowing its ranges.

A box contains one range per number of an argument, as in interval constraint solving. Equalities
and inequalities of sums and products narrow the ranges (`intervals.py`). A remainder restricts a
number to a congruence class. Equal shapes and dtypes are copied. A disjunction narrows the box if
only one of its operands is possible.

Drawn arguments are numbers. Arguments that will be drawn later are ranges, so that no drawn value
leaves them without valid values. Conditions of other forms narrow nothing. All conditions are
checked again on drawn values: solving only lowers the number of discarded calls.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from typing import Any

from ciguard.functions.solving.alternatives import Key, alternatives, representative
from ciguard.functions.solving.congruences import Congruence, congruence_of, probes_of
from ciguard.functions.solving.expressions import UnknownError, truth, value_of
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval, point
from ciguard.functions.solving.parsing import free_names
from ciguard.functions.solving.ranges import Ranges
from ciguard.functions.solving.views import DtypeView


@dataclass(slots=True)
class Box(Ranges):
    """Restrictions of the values of one call's arguments that follow from conditions."""

    congruences: dict[Key, Congruence] = field(default_factory=dict)
    dtypes: dict[str, frozenset[str]] = field(default_factory=dict)
    allowed_values: dict[str, frozenset[Any]] = field(default_factory=dict)
    """Views of the only allowed values, by argument."""

    def assume(self, node: ast.expr, *, holds: bool = True) -> None:
        """Narrow the box by a condition.

        Args:
            node: the condition.
            holds: False to narrow the box by the condition's negation.

        Raises:
            EmptyError: if no values of the box fulfil the condition.
        """
        verdict = self.verdict(node)
        if verdict is not None:
            if verdict is not holds:
                raise EmptyError
            return
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.assume(operand, holds=not holds)
            case ast.BoolOp(op=op, values=values):
                if isinstance(op, ast.And) is holds:
                    for value in values:
                        self.assume(value, holds=holds)
                else:
                    self._assume_one_of(values, holds=holds)
            case ast.Compare():
                self._assume_comparison(node, holds=holds)
            case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp() as items]) if holds:
                self._assume_for_each_item(items)
            case _:
                pass  # a condition of another form narrows nothing

    def _assume_one_of(self, parts: list[ast.expr], *, holds: bool) -> None:
        """Narrow the box by a disjunction, if only one of its operands is possible.

        Args:
            parts: operands of the disjunction.
            holds: False for a disjunction of the operands' negations.

        Raises:
            EmptyError: if no operand is possible.
        """
        open_parts = [part for part in parts if self.verdict(part) is not (not holds)]
        possible = [part for part in open_parts if self._is_possible(part, holds=holds)]
        if not possible:
            raise EmptyError
        if len(possible) == 1:
            self.assume(possible[0], holds=holds)

    def _is_possible(self, node: ast.expr, *, holds: bool) -> bool:
        """Return whether values of the box may fulfil a condition, or its negation."""
        trial = Box(
            drawn=self.drawn,
            specs=self.specs,
            ranges=dict(self.ranges),
            variable_keys=dict(self.variable_keys),
            congruences=dict(self.congruences),
            dtypes=dict(self.dtypes),
            allowed_values=dict(self.allowed_values),
        )
        try:
            trial.assume(node, holds=holds)
        except EmptyError:
            return False
        return True

    def _assume_for_each_item(self, items: ast.GeneratorExp) -> None:
        """Narrow the ranges of a list's items by a condition `all(… for item in x)`."""
        source = items.generators[0]
        is_argument = isinstance(source.iter, ast.Name) and source.iter.id in self.specs
        if len(items.generators) > 1 or source.ifs or not is_argument:
            return
        if isinstance(source.target, ast.Name) and isinstance(source.iter, ast.Name):
            name = source.target.id
            # If the list may be empty, the condition need not hold for any item.
            if self.range_of(("len", source.iter.id)).low > 0:
                self.variable_keys[name] = ("each", source.iter.id)
                self.assume(items.elt)
                del self.variable_keys[name]

    def _assume_comparison(self, node: ast.Compare, *, holds: bool) -> None:
        """Narrow the box by a comparison, also by a chain of comparisons."""
        if len(node.ops) > 1:
            if holds:
                left = node.left
                for operator, right in zip(node.ops, node.comparators, strict=True):
                    self.assume(ast.Compare(left, [operator], [right]))
                    left = right
            return
        op: ast.cmpop = node.ops[0]
        if not holds:
            negate = _NEGATED_OPERATORS.get(type(op))
            if negate is None:
                return
            op = negate()
        self._relate(op, node.left, node.comparators[0])

    def _relate(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> None:
        """Narrow the box by a single comparison that holds."""
        if isinstance(op, ast.In | ast.Eq) and self._restrict_to_members(op, left, right):
            return
        if isinstance(op, ast.Eq):
            if self._restrict_shape_or_dtype(left, right) or self._restrict_shape_or_dtype(
                right, left
            ):
                return
            self._restrict_remainder(left, right)
        lower, upper = self._extremes(op, left, right)
        first, second = self.forward(lower), self.forward(upper)
        if isinstance(op, ast.Eq):
            self.backward(lower, second)
            self.backward(upper, first)
        elif isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            is_strict = isinstance(op, ast.Lt | ast.Gt)
            is_whole = first.is_whole and second.is_whole
            self.backward(lower, Interval(high=_adjacent_end(second.high, -1, is_strict, is_whole)))
            self.backward(upper, Interval(low=_adjacent_end(first.low, 1, is_strict, is_whole)))

    def _restrict_to_members(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
        """Restrict an argument to listed values if a condition is `x in (1, 2)` or `x == "same"`.

        Return whether the condition has such a form.
        """
        if not isinstance(left, ast.Name) or left.id not in self.specs:
            return False
        try:
            value = value_of(right, self.drawn)
        except UnknownError:
            return False
        listed = value if isinstance(op, ast.In) else (value,) if isinstance(value, str) else None
        if not isinstance(listed, list | tuple | set | dict | range):
            return False
        scalars = frozenset(member for member in listed if isinstance(member, int | float | str))
        self.allowed_values[left.id] = self.allowed_values.get(left.id, scalars) & scalars
        return True

    def _extremes(
        self, op: ast.cmpop, left: ast.expr, right: ast.expr
    ) -> tuple[ast.expr, ast.expr]:
        """Return the operand of an inequality that is the lower bound, and the upper bound."""
        return (right, left) if isinstance(op, ast.Gt | ast.GtE) else (left, right)

    # --- equalities of shapes and dtypes ---------------------------------------------------------

    def _restrict_shape_or_dtype(self, left: ast.expr, right: ast.expr) -> bool:
        """Restrict `x.shape` or `x.dtype` to the value of the right operand.

        Return whether the left operand has such a form.
        """
        if not isinstance(left, ast.Attribute | ast.Subscript):
            return False
        sliced = left.value if isinstance(left, ast.Subscript) else left
        if not isinstance(sliced, ast.Attribute) or not isinstance(sliced.value, ast.Name):
            return False
        name, attribute = sliced.value.id, sliced.attr
        if name not in self.specs or attribute not in {"shape", "dtype"}:
            return False
        if attribute == "dtype" and sliced is left:
            self._restrict_dtype(name, right)
            return True
        if isinstance(left, ast.Subscript) and not isinstance(left.slice, ast.Slice):
            return False
        self._restrict_sizes(name, left.slice if isinstance(left, ast.Subscript) else None, right)
        return True

    def _restrict_dtype(self, name: str, right: ast.expr) -> None:
        """Restrict the dtype of an argument to the value of the right operand."""
        try:
            value = value_of(right, self.drawn)
        except UnknownError:
            return
        dtype = value.name if isinstance(value, DtypeView) else value
        if isinstance(dtype, str):
            allowed = self.dtypes.get(name, frozenset((dtype,)))
            self.dtypes[name] = allowed & {dtype}

    def _restrict_sizes(self, name: str, index: ast.expr | None, right: ast.expr) -> None:
        """Restrict sizes of an argument's shape.

        Args:
            name: name of the argument.
            index: slice of the shape, as in `x.shape[1:] == …`; None for the whole shape.
            right: expression of the equal sizes.

        Raises:
            EmptyError: if the numbers of dimensions differ, or a size is impossible.
        """
        rank = self.range_of(("ndim", name))
        if not rank.is_point:
            return
        axes = list(range(int(rank.low)))
        if isinstance(index, ast.Slice):
            edges = (index.lower, index.upper, index.step)
            try:
                axes = axes[
                    slice(*(edge if edge is None else value_of(edge, self.drawn) for edge in edges))
                ]
            except UnknownError:
                return
        sizes = self._size_ranges(right)
        if sizes is None:
            if index is None and isinstance(right, ast.Attribute):
                self.backward(ast.Attribute(right.value, "ndim"), rank)
            return
        if len(sizes) != len(axes):
            raise EmptyError
        for axis, size in zip(axes, sizes, strict=True):
            self.narrow(("dim", name, axis), size)

    def _size_ranges(self, node: ast.expr) -> list[Interval] | None:
        """Return the ranges of a shape's sizes; None if the number of dimensions is unknown."""
        if isinstance(node, ast.Tuple | ast.List):
            return [self.forward(size) for size in node.elts]
        try:
            shape = value_of(node, self.drawn)
        except UnknownError:
            return self._size_ranges_of_undrawn(node)
        if isinstance(shape, list | tuple) and all(isinstance(size, int) for size in shape):
            return [point(size) for size in shape]
        return None

    def _size_ranges_of_undrawn(self, node: ast.expr) -> list[Interval] | None:
        """Return the ranges of the sizes in `x.shape` of an undrawn argument; else None."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        name = node.value.id
        rank = self.range_of(("ndim", name)) if name in self.specs else ANY
        if node.attr != "shape" or not rank.is_point:
            return None
        return [self.range_of(("dim", name, axis)) for axis in range(int(rank.low))]

    def _restrict_remainder(self, left: ast.expr, right: ast.expr) -> None:
        """Restrict an integer or a size by an equality such as `x % k == 0`."""
        if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod):
            return
        for name in free_names(left) & self.specs.keys():
            for key, probes in probes_of(name, self.specs[name]):
                congruence = congruence_of(left, right, probes, name, self.drawn)
                if congruence is not None:
                    self.congruences[key] = congruence

    # --- verdicts ---------------------------------------------------------------------------------

    def verdict(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds for all values of the box; None if this is unknown.

        False means that the condition holds for no value of the box.
        """
        if not self.needs_undrawn_argument(node):
            try:
                return truth(value_of(node, self.drawn))
            except UnknownError:
                pass
        if isinstance(node, ast.BoolOp):
            return self._verdict_of_parts(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.verdict(node.operand)
            return None if inner is None else not inner
        if is_type_check(node):
            return self._verdict_by_type(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._verdict_of_ranges(node)
        return None

    def _verdict_of_parts(self, node: ast.BoolOp) -> bool | None:
        """Return the verdict on a condition with `and` or `or`."""
        verdicts = [self.verdict(value) for value in node.values]
        deciding = isinstance(node.op, ast.Or)
        if deciding in verdicts:
            return deciding
        return None if None in verdicts else not deciding

    def _verdict_by_type(self, node: ast.expr) -> bool | None:
        """Return the verdict on a check of one argument's type, for all kinds of its values."""
        verdicts = set()
        names = sorted(free_names(node) & self.specs.keys())
        if len(names) != 1:
            return None
        for kind in alternatives(self.specs[names[0]]):
            try:
                verdicts.add(truth(value_of(node, {**self.drawn, names[0]: representative(kind)})))
            except UnknownError:
                return None
        return verdicts.pop() if len(verdicts) == 1 else None

    def _verdict_of_ranges(self, node: ast.Compare) -> bool | None:
        """Return the verdict on a comparison of two expressions by their ranges."""
        left, right = self.forward(node.left), self.forward(node.comparators[0])
        op = node.ops[0]
        if isinstance(op, ast.Gt | ast.GtE):
            left, right = right, left
        if isinstance(op, ast.Lt | ast.Gt):
            return _verdict(left.high < right.low, left.low >= right.high)
        if isinstance(op, ast.LtE | ast.GtE):
            return _verdict(left.high <= right.low, left.low > right.high)
        if isinstance(op, ast.Eq | ast.NotEq):
            are_disjoint = left.high < right.low or right.high < left.low
            are_equal = left.is_point and right.is_point and left.low == right.low
            verdict = _verdict(are_equal, are_disjoint)
            return verdict if isinstance(op, ast.Eq) or verdict is None else not verdict
        return None


def is_type_check(node: ast.expr) -> bool:
    """Return whether a condition checks the type of a value, or whether a value is None."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(), _]):
            return True
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            called = left.func if isinstance(left, ast.Call) else None
            is_type = isinstance(called, ast.Name) and called.id == "type"
            is_none = isinstance(right, ast.Constant) and right.value is None
            is_supported = isinstance(
                op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq | ast.In | ast.NotIn
            )
            return is_supported and (is_type or (is_none and isinstance(left, ast.Name)))
        case _:
            return False


def _adjacent_end(end: float, direction: int, is_strict: bool, is_whole: bool) -> float:  # noqa: FBT001 - private
    """Return the bound of a number that is compared with a range.

    Args:
        end: end of the range.
        direction: -1 if the number is less than the end, 1 if it is greater.
        is_strict: whether the number must differ from the end.
        is_whole: whether the number and the range contain only integers.
    """
    if not is_strict:
        return end
    return end + direction if is_whole else math.nextafter(end, direction * math.inf)


def _verdict(is_true: bool, is_false: bool) -> bool | None:  # noqa: FBT001 - conditions, not options
    """Return the verdict on a condition; None if it is neither known to hold nor known to fail."""
    return True if is_true else (False if is_false else None)


_NEGATED_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}  # fmt: skip
