"""Solves preconditions for the argument that is drawn next, by narrowing its ranges.

A box holds one range per number of an argument, as in interval constraint solving. Equalities and
inequalities of sums and products narrow the ranges (`intervals.py`), and remainders fix steps.
Equal shapes and dtypes are copied. Of a disjunction only a single possible part is applied.

Drawn arguments are numbers. Arguments that will be drawn later are ranges, so that no drawn value
leaves them empty. Conditions that are not understood narrow nothing. All conditions are checked
again on drawn values, so solving only lowers the number of discarded calls.
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
    """Ranges, steps, dtypes and members of the arguments of one call, narrowed by conditions."""

    steps: dict[Key, Congruence] = field(default_factory=dict)
    dtypes: dict[str, frozenset[str]] = field(default_factory=dict)
    members: dict[str, frozenset[Any]] = field(default_factory=dict)
    """Allowed values of an argument, as views."""

    def assume(self, node: ast.expr, *, holds: bool = True) -> None:
        """Narrow the box by a condition, or by its negation.

        Raises:
            EmptyError: if no values fulfil it.
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
                pass  # not understood

    def _assume_one_of(self, parts: list[ast.expr], *, holds: bool) -> None:
        """Narrow the box by the only possible part of a disjunction, if there is only one."""
        open_parts = [part for part in parts if self.verdict(part) is not (not holds)]
        possible = [part for part in open_parts if self._is_possible(part, holds=holds)]
        if not possible:
            raise EmptyError
        if len(possible) == 1:
            self.assume(possible[0], holds=holds)

    def _is_possible(self, node: ast.expr, *, holds: bool) -> bool:
        trial = Box(
            drawn=self.drawn,
            specs=self.specs,
            ranges=dict(self.ranges),
            bound=dict(self.bound),
            steps=dict(self.steps),
            dtypes=dict(self.dtypes),
            members=dict(self.members),
        )
        try:
            trial.assume(node, holds=holds)
        except EmptyError:
            return False
        return True

    def _assume_for_each_item(self, items: ast.GeneratorExp) -> None:
        source = items.generators[0]
        is_argument = isinstance(source.iter, ast.Name) and source.iter.id in self.specs
        if len(items.generators) > 1 or source.ifs or not is_argument:
            return
        if isinstance(source.target, ast.Name) and isinstance(source.iter, ast.Name):
            name = source.target.id
            # Not of a list that may be empty: the condition may then hold for no item.
            if self.range_of(("len", source.iter.id)).low > 0:
                self.bound[name] = ("each", source.iter.id)
                self.assume(items.elt)
                del self.bound[name]

    def _assume_comparison(self, node: ast.Compare, *, holds: bool) -> None:
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
        """Restrict an argument to listed values: by `x in (1, 2)`, or by `x == "same"`.

        Return whether the condition has that form.
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
        self.members[left.id] = self.members.get(left.id, scalars) & scalars
        return True

    def _extremes(
        self, op: ast.cmpop, left: ast.expr, right: ast.expr
    ) -> tuple[ast.expr, ast.expr]:
        """Return the lower and the upper side of an inequality."""
        return (right, left) if isinstance(op, ast.Gt | ast.GtE) else (left, right)

    # --- equalities of shapes and dtypes ---------------------------------------------------------

    def _restrict_shape_or_dtype(self, left: ast.expr, right: ast.expr) -> bool:
        """Restrict `x.shape` or `x.dtype` to known values.

        Return whether the equality has that form.
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
        try:
            value = value_of(right, self.drawn)
        except UnknownError:
            return
        dtype = value.name if isinstance(value, DtypeView) else value
        if isinstance(dtype, str):
            allowed = self.dtypes.get(name, frozenset((dtype,)))
            self.dtypes[name] = allowed & {dtype}

    def _restrict_sizes(self, name: str, index: ast.expr | None, right: ast.expr) -> None:
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
        """Return the ranges of a shape's sizes; None if its rank is unknown."""
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
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        name = node.value.id
        rank = self.range_of(("ndim", name)) if name in self.specs else ANY
        if node.attr != "shape" or not rank.is_point:
            return None
        return [self.range_of(("dim", name, axis)) for axis in range(int(rank.low))]

    def _restrict_remainder(self, left: ast.expr, right: ast.expr) -> None:
        """Restrict the remainder of an integer or a size by `x % k == 0`."""
        if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod):
            return
        for name in free_names(left) & self.specs.keys():
            for key, probes in probes_of(name, self.specs[name]):
                congruence = congruence_of(left, right, probes, name, self.drawn)
                if congruence is not None:
                    self.steps[key] = congruence

    # --- verdicts ---------------------------------------------------------------------------------

    def verdict(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds for all remaining values; None if that is unknown."""
        if not self.is_open(node):
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
        verdicts = [self.verdict(value) for value in node.values]
        deciding = isinstance(node.op, ast.Or)
        if deciding in verdicts:
            return deciding
        return None if None in verdicts else not deciding

    def _verdict_by_type(self, node: ast.expr) -> bool | None:
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
        left, right = self.forward(node.left), self.forward(node.comparators[0])
        op = node.ops[0]
        if isinstance(op, ast.Gt | ast.GtE):
            left, right = right, left
        if isinstance(op, ast.Lt | ast.Gt):
            return _decided(left.high < right.low, left.low >= right.high)
        if isinstance(op, ast.LtE | ast.GtE):
            return _decided(left.high <= right.low, left.low > right.high)
        if isinstance(op, ast.Eq | ast.NotEq):
            are_disjoint = left.high < right.low or right.high < left.low
            are_equal = left.is_point and right.is_point and left.low == right.low
            verdict = _decided(are_equal, are_disjoint)
            return verdict if isinstance(op, ast.Eq) or verdict is None else not verdict
        return None


def is_type_check(node: ast.expr) -> bool:
    """Return whether a condition only checks a type, or compares with None."""
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


def _adjacent_end(end: float, direction: int, is_strict: bool, is_whole: bool) -> float:  # noqa: FBT001 - claims
    """Return the end of a range that is less (`direction` -1) or greater than another's."""
    if not is_strict:
        return end
    return end + direction if is_whole else math.nextafter(end, direction * math.inf)


def _decided(is_true: bool, is_false: bool) -> bool | None:  # noqa: FBT001 - two claims
    return True if is_true else (False if is_false else None)


_NEGATED_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}  # fmt: skip
