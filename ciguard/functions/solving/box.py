"""Preconditions solved for the argument that is drawn next: its ranges are narrowed to what fits.

Each condition is read as far as it is understood: equalities and inequalities of sums and products
of numbers, lengths, sizes and ranks narrow ranges (`intervals.py`), remainders fix steps, equal
shapes and dtypes are taken over, and of a disjunction what is left where only one part can hold.
Arguments that are drawn are numbers in it, those that will be drawn later are their ranges: nothing
is drawn that leaves them none. What is not understood narrows nothing, and every condition is still
asked of the drawn values, so that solving can only lower the number of calls that are discarded.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from typing import Any

from ciguard.functions.solving.alternatives import Key, alternatives, specimen
from ciguard.functions.solving.congruences import Congruence, congruence_of, probes_of
from ciguard.functions.solving.expressions import UnknownError, truth, value_of
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval, point
from ciguard.functions.solving.parsing import free_names
from ciguard.functions.solving.ranges import Ranges
from ciguard.functions.solving.views import DtypeView


@dataclass(slots=True)
class Box(Ranges):
    """What is known of the arguments of one call."""

    steps: dict[Key, Congruence] = field(default_factory=dict)
    dtypes: dict[str, frozenset[str]] = field(default_factory=dict)
    members: dict[str, frozenset[Any]] = field(default_factory=dict)
    """The only values of an argument, as views."""

    def assume(self, node: ast.expr, *, holds: bool = True) -> None:
        """Narrow what is known by a condition, or by its opposite.

        Raises:
            EmptyError: if it cannot be so.
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
                self._assume_of_each(items)
            case _:
                pass  # not understood

    def _assume_one_of(self, parts: list[ast.expr], *, holds: bool) -> None:
        """Narrow by the only part that can be so, if there is only one."""
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

    def _assume_of_each(self, items: ast.GeneratorExp) -> None:
        source = items.generators[0]
        known = isinstance(source.iter, ast.Name) and source.iter.id in self.specs
        if len(items.generators) > 1 or source.ifs or not known:
            return
        if isinstance(source.target, ast.Name) and isinstance(source.iter, ast.Name):
            name = source.target.id
            # For each item alone: what no item fulfils leaves the empty list.
            if self.range_of(("len", source.iter.id)).low > 0:
                self.bound[name] = ("each", source.iter.id)
                self.assume(items.elt)
                del self.bound[name]

    def _assume_comparison(self, node: ast.Compare, *, holds: bool) -> None:
        if len(node.ops) > 1:
            if holds:
                left = node.left
                for each, right in zip(node.ops, node.comparators, strict=True):
                    self.assume(ast.Compare(left, [each], [right]))
                    left = right
            return
        op: ast.cmpop = node.ops[0]
        if not holds:
            opposite = _OPPOSITE.get(type(op))
            if opposite is None:
                return
            op = opposite()
        self._relate(op, node.left, node.comparators[0])

    def _relate(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> None:
        if isinstance(op, ast.In | ast.Eq) and self._list(op, left, right):
            return
        if isinstance(op, ast.Eq):
            if self._take_over(left, right) or self._take_over(right, left):
                return
            self._divide(left, right)
        lower, upper = self._extremes(op, left, right)
        first, second = self.forward(lower), self.forward(upper)
        if isinstance(op, ast.Eq):
            self.backward(lower, second)
            self.backward(upper, first)
        elif isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            strict = isinstance(op, ast.Lt | ast.Gt)
            whole = first.is_whole and second.is_whole
            self.backward(lower, Interval(high=_next(second.high, -1, strict, whole)))
            self.backward(upper, Interval(low=_next(first.low, 1, strict, whole)))

    def _list(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
        """Narrow to the values of a list by `x in (1, 2)`, to a text by `x == "same"`."""
        if not isinstance(left, ast.Name) or left.id not in self.specs:
            return False
        try:
            found = value_of(right, self.drawn)
        except UnknownError:
            return False
        listed = found if isinstance(op, ast.In) else (found,) if isinstance(found, str) else None
        if not isinstance(listed, list | tuple | set | dict | range):
            return False
        scalars = frozenset(one for one in listed if isinstance(one, int | float | str))
        self.members[left.id] = self.members.get(left.id, scalars) & scalars
        return True

    def _extremes(
        self, op: ast.cmpop, left: ast.expr, right: ast.expr
    ) -> tuple[ast.expr, ast.expr]:
        """Return the lower and the upper side of an inequality."""
        return (right, left) if isinstance(op, ast.Gt | ast.GtE) else (left, right)

    # --- equalities of other things than numbers ------------------------------------------------

    def _take_over(self, left: ast.expr, right: ast.expr) -> bool:
        """Narrow `x.shape` or `x.dtype` to what is known; return whether it is about either."""
        if not isinstance(left, ast.Attribute | ast.Subscript):
            return False
        sliced = left.value if isinstance(left, ast.Subscript) else left
        if not isinstance(sliced, ast.Attribute) or not isinstance(sliced.value, ast.Name):
            return False
        name, attribute = sliced.value.id, sliced.attr
        if name not in self.specs or attribute not in {"shape", "dtype"}:
            return False
        if attribute == "dtype" and sliced is left:
            self._take_dtype(name, right)
            return True
        if isinstance(left, ast.Subscript) and not isinstance(left.slice, ast.Slice):
            return False
        self._take_sizes(name, left.slice if isinstance(left, ast.Subscript) else None, right)
        return True

    def _take_dtype(self, name: str, right: ast.expr) -> None:
        try:
            found = value_of(right, self.drawn)
        except UnknownError:
            return
        dtype = found.name if isinstance(found, DtypeView) else found
        if isinstance(dtype, str):
            allowed = self.dtypes.get(name, frozenset((dtype,)))
            self.dtypes[name] = allowed & {dtype}

    def _take_sizes(self, name: str, part: ast.expr | None, right: ast.expr) -> None:
        rank = self.range_of(("ndim", name))
        if not rank.is_point:
            return
        axes = list(range(int(rank.low)))
        if isinstance(part, ast.Slice):
            edges = (part.lower, part.upper, part.step)
            try:
                axes = axes[slice(*(e if e is None else value_of(e, self.drawn) for e in edges))]
            except UnknownError:
                return
        sizes = self._sizes(right)
        if sizes is None:
            if part is None and isinstance(right, ast.Attribute):
                self.backward(ast.Attribute(right.value, "ndim"), rank)
            return
        if len(sizes) != len(axes):
            raise EmptyError
        for axis, size in zip(axes, sizes, strict=True):
            self.narrow(("dim", name, axis), size)

    def _sizes(self, node: ast.expr) -> list[Interval] | None:
        """Return the ranges of the sizes that a shape has; None if its rank is not known."""
        if isinstance(node, ast.Tuple | ast.List):
            return [self.forward(size) for size in node.elts]
        try:
            found = value_of(node, self.drawn)
        except UnknownError:
            return self._sizes_of_undrawn(node)
        if isinstance(found, list | tuple) and all(isinstance(size, int) for size in found):
            return [point(size) for size in found]
        return None

    def _sizes_of_undrawn(self, node: ast.expr) -> list[Interval] | None:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        name = node.value.id
        rank = self.range_of(("ndim", name)) if name in self.specs else ANY
        if node.attr != "shape" or not rank.is_point:
            return None
        return [self.range_of(("dim", name, axis)) for axis in range(int(rank.low))]

    def _divide(self, left: ast.expr, right: ast.expr) -> None:
        """Fix the steps of an integer by `x % k == 0`, and those of a size."""
        if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod):
            return
        for name in free_names(left) & self.specs.keys():
            for key, probes in probes_of(name, self.specs[name]):
                found = congruence_of(left, right, probes, name, self.drawn)
                if found is not None:
                    self.steps[key] = found

    # --- verdicts ---------------------------------------------------------------------------------

    def verdict(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds, where that is known of all values that are left."""
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
        if is_about_type(node):
            return self._verdict_by_type(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._verdict_of_ranges(node)
        return None

    def _verdict_of_parts(self, node: ast.BoolOp) -> bool | None:
        found = [self.verdict(value) for value in node.values]
        decides = isinstance(node.op, ast.Or)
        if decides in found:
            return decides
        return None if None in found else not decides

    def _verdict_by_type(self, node: ast.expr) -> bool | None:
        verdicts = set()
        names = sorted(free_names(node) & self.specs.keys())
        if len(names) != 1:
            return None
        for kind in alternatives(self.specs[names[0]]):
            try:
                verdicts.add(truth(value_of(node, {**self.drawn, names[0]: specimen(kind)})))
            except UnknownError:
                return None
        return verdicts.pop() if len(verdicts) == 1 else None

    def _verdict_of_ranges(self, node: ast.Compare) -> bool | None:
        left, right = self.forward(node.left), self.forward(node.comparators[0])
        op = node.ops[0]
        if isinstance(op, ast.Gt | ast.GtE):
            left, right = right, left
        if isinstance(op, ast.Lt | ast.Gt):
            return _surely(left.high < right.low, left.low >= right.high)
        if isinstance(op, ast.LtE | ast.GtE):
            return _surely(left.high <= right.low, left.low > right.high)
        if isinstance(op, ast.Eq | ast.NotEq):
            apart = left.high < right.low or right.high < left.low
            same = left.is_point and right.is_point and left.low == right.low
            found = _surely(same, apart)
            return found if isinstance(op, ast.Eq) or found is None else not found
        return None


def is_about_type(node: ast.expr) -> bool:
    """Return whether a condition asks for a type, or for None, and for nothing else."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(), _]):
            return True
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            called = left.func if isinstance(left, ast.Call) else None
            is_type = isinstance(called, ast.Name) and called.id == "type"
            is_none = isinstance(right, ast.Constant) and right.value is None
            usual = isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq | ast.In | ast.NotIn)
            return usual and (is_type or (is_none and isinstance(left, ast.Name)))
        case _:
            return False


def _next(end: float, direction: int, strict: bool, whole: bool) -> float:  # noqa: FBT001 - claims
    """Return the end of what is less (`direction` -1) or greater than another end."""
    if not strict:
        return end
    return end + direction if whole else math.nextafter(end, direction * math.inf)


def _surely(yes: bool, no: bool) -> bool | None:  # noqa: FBT001 - two claims
    return True if yes else (False if no else None)


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}  # fmt: skip
