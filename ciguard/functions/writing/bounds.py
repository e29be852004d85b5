"""Preconditions as bounds of the argument that is drawn last, in the text of its strategy.

What bounds it is generated; what is not understood stays a condition that is assumed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.functions.solving.parsing import free_names, names_in, parsed
from ciguard.functions.specs.kinds import Anys, Arrays, FloatsIn, IntsIn, Lists, Spec, Strings

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

Quantity: TypeAlias = "str | tuple[str, int]"
"""`value`, `length`, `shape`, or `size` with the number of a dimension."""


@dataclass(slots=True)
class ArgumentBounds:
    """What preconditions say of one argument: expressions of those drawn before it."""

    lows: dict[Quantity, list[str]] = field(default_factory=dict)
    highs: dict[Quantity, list[str]] = field(default_factory=dict)
    equals: dict[Quantity, str] = field(default_factory=dict)
    multiple_of: str = ""
    offset: str = ""
    """What is to be taken from the value to get that multiple."""
    left: list[str] = field(default_factory=list)
    """Conditions that are to be assumed."""

    @property
    def is_plain(self) -> bool:
        """Whether no bound depends on another argument."""
        ends = [text for texts in (*self.lows.values(), *self.highs.values()) for text in texts]
        return not any(
            names_in(text) for text in (*ends, *self.equals.values(), self.multiple_of, self.offset)
        )


def bounds_of(
    name: str, spec: Spec, conditions: Iterable[str], drawn: Container[str]
) -> ArgumentBounds:
    """Return what conditions say of an argument.

    Args:
        name: of the argument.
        spec: what its annotation allows.
        conditions: texts that name it and only arguments drawn before it.
        drawn: names of those.
    """
    reader = _BoundsReader(name, spec, drawn)
    for text in conditions:
        tree = parsed(text)
        for part in _parts(tree) if tree is not None else ():
            if not reader.reads(part):
                reader.bounds.left.append(ast.unparse(part))
        if tree is None:
            reader.bounds.left.append(text)
    return reader.bounds


def _parts(tree: ast.expr) -> list[ast.expr]:
    """Return the conditions that must all hold, chains of comparisons taken apart."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _parts(value)]
    if isinstance(tree, ast.Compare) and len(tree.ops) > 1:
        operands = [tree.left, *tree.comparators]
        pairs = zip(operands, tree.ops, operands[1:], strict=False)
        return [ast.Compare(left, [op], [right]) for left, op, right in pairs]
    return [tree]


class _BoundsReader:
    def __init__(self, name: str, spec: Spec, drawn: Container[str]) -> None:
        self._name = name
        self._spec = spec
        self._drawn = drawn
        self.bounds = ArgumentBounds()

    def reads(self, node: ast.expr) -> bool:
        """Note a condition as bounds; return whether that says all of it."""
        if isinstance(node, ast.BoolOp) and isinstance(self._spec, Anys):
            return self._reads_of_lists(node)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return False
        left, right, op = node.left, node.comparators[0], node.ops[0]
        if self._is_multiple(left, op, right):
            return True
        return self._relates(left, type(op), right) or self._relates(
            right, _FLIPPED.get(type(op), ast.Is), left
        )

    def _reads_of_lists(self, node: ast.BoolOp) -> bool:
        """Read `type(x) is not list or len(x) == n`, which is about the lists among its kinds."""
        if not isinstance(node.op, ast.Or) or len(node.values) != 2:  # noqa: PLR2004 - two sides
            return False
        guard, rest = node.values
        shown = ast.unparse(guard)
        known = {f"type({self._name}) is not list", f"not isinstance({self._name}, list)"}
        if shown not in known or not isinstance(rest, ast.Compare) or len(rest.ops) != 1:
            return False
        left, right, op = rest.left, rest.comparators[0], type(rest.ops[0])
        if ast.unparse(left) != f"len({self._name})" or not self._is_known(right):
            return False
        return self._note("length", op, ast.unparse(right))

    def _is_known(self, node: ast.expr) -> bool:
        """Return whether an expression follows from what is drawn before."""
        return all(name in self._drawn or name in _CALLED for name in free_names(node))

    def _is_multiple(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        """Read `x % k == 0`, or `(x - c) % k == 0`."""
        match left, op, right:
            case ast.BinOp(left=inner, op=ast.Mod(), right=divisor), ast.Eq(), ast.Constant(
                value=0
            ):
                offset = self._offset(inner)
            case _:
                return False
        if offset is None or self.bounds.multiple_of or not self._is_known(divisor):
            return False
        self.bounds.multiple_of, self.bounds.offset = ast.unparse(divisor), offset
        return True

    def _offset(self, node: ast.expr) -> str | None:
        """Return what is subtracted from the argument; None if that is not all."""
        if not isinstance(self._spec, IntsIn):
            return None
        match node:
            case ast.Name(id=self._name):
                return ""
            case ast.BinOp(left=ast.Name(id=self._name), op=op, right=other) if self._is_known(
                other
            ):
                text = ast.unparse(other)
                if isinstance(op, ast.Sub):
                    return text
                return f"-{text}" if isinstance(op, ast.Add) and _is_number(text) else None
            case _:
                return None

    def _relates(self, side: ast.expr, op: type[ast.cmpop], other: ast.expr) -> bool:
        quantity = self._quantity(side)
        if quantity is None or not self._is_known(other):
            return False
        return self._note(quantity, op, ast.unparse(other))

    def _quantity(self, node: ast.expr) -> Quantity | None:
        match node, self._spec:
            case ast.Name(id=self._name), IntsIn() | FloatsIn():
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

    def _note(self, quantity: Quantity, op: type[ast.cmpop], text: str) -> bool:
        bounds = self.bounds
        if op is ast.Eq:
            return bounds.equals.setdefault(quantity, text) == text
        if quantity == "shape" or (isinstance(self._spec, FloatsIn) and op not in _CLOSED):
            return False
        if op in (ast.Lt, ast.LtE):
            bounds.highs.setdefault(quantity, []).append(_less(text) if op is ast.Lt else text)
            return True
        if op in (ast.Gt, ast.GtE):
            bounds.lows.setdefault(quantity, []).append(_more(text) if op is ast.Gt else text)
            return True
        return False


_CLOSED = (ast.LtE, ast.GtE)
_CALLED = frozenset(("len", "min", "max", "abs", "sum"))
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def _less(text: str) -> str:
    return str(int(text) - 1) if _is_number(text) else f"{text} - 1"


def _more(text: str) -> str:
    return str(int(text) + 1) if _is_number(text) else f"{text} + 1"


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal()
