"""Bounds of an argument that follow from preconditions, as text for its strategy.

Each precondition bounds the argument that is drawn last among those that it names. Preconditions
that cannot be expressed as bounds become calls of Hypothesis's `assume`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.functions.solving.parsing import expression_tree, free_names, names_in
from ciguard.functions.specs.kinds import Anys, Arrays, FloatRange, IntRange, Lists, Spec, Strings

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

Quantity: TypeAlias = str
"""A number of an argument: `value`, `length` or `shape`."""


@dataclass(slots=True)
class ArgumentBounds:
    """Bounds of one argument, as source texts that use only arguments drawn before it."""

    lows: dict[Quantity, list[str]] = field(default_factory=dict)
    """Inclusive lower bounds, by quantity."""
    highs: dict[Quantity, list[str]] = field(default_factory=dict)
    """Inclusive upper bounds, by quantity."""
    equals: dict[Quantity, str] = field(default_factory=dict)
    """Expressions that a quantity must equal, by quantity."""
    multiple_of: str = ""
    """Divisor of the value minus `offset`; empty if a divisor is not required."""
    offset: str = ""
    """Number to subtract from the value before it is divided; empty for 0."""
    assumptions: list[str] = field(default_factory=list)
    """Conditions that the test assumes, because they cannot be expressed as bounds."""

    @property
    def is_independent(self) -> bool:
        """True if no bound depends on another argument."""
        ends = [text for texts in (*self.lows.values(), *self.highs.values()) for text in texts]
        return not any(
            names_in(text) for text in (*ends, *self.equals.values(), self.multiple_of, self.offset)
        )


def bounds_of(
    name: str, spec: Spec, conditions: Iterable[str], drawn: Container[str]
) -> ArgumentBounds:
    """Return the bounds that conditions imply for an argument.

    Args:
        name: name of the argument.
        spec: constraint of its annotation.
        conditions: source texts of conditions that name the argument, and otherwise only arguments
            that are drawn before it.
        drawn: names of the arguments that are drawn before it.
    """
    reader = _BoundsReader(name, spec, drawn)
    for text in conditions:
        tree = expression_tree(text)
        for part in _conjuncts(tree) if tree is not None else ():
            if not reader.add_condition(part):
                reader.bounds.assumptions.append(ast.unparse(part))
        if tree is None:
            reader.bounds.assumptions.append(text)
    return reader.bounds


def _conjuncts(tree: ast.expr) -> list[ast.expr]:
    """Return the operands of `and`, and the single comparisons in a chain of comparisons."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _conjuncts(value)]
    if isinstance(tree, ast.Compare) and len(tree.ops) > 1:
        operands = [tree.left, *tree.comparators]
        pairs = zip(operands, tree.ops, operands[1:], strict=False)
        return [ast.Compare(left, [op], [right]) for left, op, right in pairs]
    return [tree]


class _BoundsReader:
    """Collects the bounds of one argument from conditions."""

    def __init__(self, name: str, spec: Spec, drawn: Container[str]) -> None:
        self._name = name
        self._spec = spec
        self._drawn = drawn
        self.bounds = ArgumentBounds()

    def add_condition(self, node: ast.expr) -> bool:
        """Add a condition to the bounds; return whether the bounds are equivalent to it."""
        if isinstance(node, ast.BoolOp) and isinstance(self._spec, Anys):
            return self._add_list_length(node)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return False
        left, right, op = node.left, node.comparators[0], node.ops[0]
        if self._add_multiple(left, op, right):
            return True
        return self._add_relation(left, type(op), right) or self._add_relation(
            right, _MIRRORED_OPERATORS.get(type(op), ast.Is), left
        )

    def _add_list_length(self, node: ast.BoolOp) -> bool:
        """Add `type(x) is not list or len(x) == n`, which bounds lists, but not other values.

        Return whether the condition has this form.
        """
        if not isinstance(node.op, ast.Or) or len(node.values) != 2:  # noqa: PLR2004 - both operands
            return False
        guard, comparison = node.values
        guard_text = ast.unparse(guard)
        list_guards = {f"type({self._name}) is not list", f"not isinstance({self._name}, list)"}
        if (
            guard_text not in list_guards
            or not isinstance(comparison, ast.Compare)
            or len(comparison.ops) != 1
        ):
            return False
        left, right, op = comparison.left, comparison.comparators[0], type(comparison.ops[0])
        if ast.unparse(left) != f"len({self._name})" or not self._is_computable(right):
            return False
        return self._add_bound("length", op, ast.unparse(right))

    def _is_computable(self, node: ast.expr) -> bool:
        """Return whether an expression depends only on arguments that are already drawn."""
        return all(name in self._drawn or name in _KNOWN_FUNCTIONS for name in free_names(node))

    def _add_multiple(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        """Add `x % k == 0` or `(x - c) % k == 0`; return whether the condition has such a form."""
        match left, op, right:
            case ast.BinOp(left=inner, op=ast.Mod(), right=divisor), ast.Eq(), ast.Constant(
                value=0
            ):
                offset = self._offset(inner)
            case _:
                return False
        if offset is None or self.bounds.multiple_of or not self._is_computable(divisor):
            return False
        self.bounds.multiple_of, self.bounds.offset = ast.unparse(divisor), offset
        return True

    def _offset(self, node: ast.expr) -> str | None:
        """Return the source text of `c` in `x - c`; empty for `x`, and None for other forms."""
        if not isinstance(self._spec, IntRange):
            return None
        match node:
            case ast.Name(id=self._name):
                return ""
            case ast.BinOp(left=ast.Name(id=self._name), op=op, right=other) if self._is_computable(
                other
            ):
                text = ast.unparse(other)
                if isinstance(op, ast.Sub):
                    return text
                return f"-{text}" if isinstance(op, ast.Add) and _is_number(text) else None
            case _:
                return None

    def _add_relation(self, side: ast.expr, op: type[ast.cmpop], other: ast.expr) -> bool:
        """Add a comparison with a quantity of the argument; return whether this succeeds."""
        quantity = self._quantity(side)
        if quantity is None or not self._is_computable(other):
            return False
        return self._add_bound(quantity, op, ast.unparse(other))

    def _quantity(self, node: ast.expr) -> Quantity | None:
        """Return the quantity of the argument for which an expression stands; else None."""
        match node, self._spec:
            case ast.Name(id=self._name), IntRange() | FloatRange():
                return "value"
            case (
                ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=self._name)]),
                Lists() | Strings(pattern=None),
            ):
                return "length"
            case ast.Attribute(value=ast.Name(id=self._name), attr="shape"), Arrays(shape=None):
                return "shape"
            case _:
                return None

    def _add_bound(self, quantity: Quantity, op: type[ast.cmpop], text: str) -> bool:
        """Add a bound of a quantity; return whether the bounds can express it."""
        bounds = self.bounds
        if op is ast.Eq:
            return bounds.equals.setdefault(quantity, text) == text
        if quantity == "shape" or (
            isinstance(self._spec, FloatRange) and op not in _INCLUSIVE_OPERATORS
        ):
            return False
        if op in (ast.Lt, ast.LtE):
            bounds.highs.setdefault(quantity, []).append(_minus_one(text) if op is ast.Lt else text)
            return True
        if op in (ast.Gt, ast.GtE):
            bounds.lows.setdefault(quantity, []).append(_plus_one(text) if op is ast.Gt else text)
            return True
        return False


_INCLUSIVE_OPERATORS = (ast.LtE, ast.GtE)
_KNOWN_FUNCTIONS = frozenset(("len", "min", "max", "abs", "sum"))
_MIRRORED_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def _minus_one(text: str) -> str:
    return str(int(text) - 1) if _is_number(text) else f"{text} - 1"


def _plus_one(text: str) -> str:
    return str(int(text) + 1) if _is_number(text) else f"{text} + 1"


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal()
