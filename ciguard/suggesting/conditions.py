"""Splits and negates conditions, and evaluates the literals in them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import ArgumentKind

if TYPE_CHECKING:
    from ciguard.suggesting.clues import PlainValue

_TYPES = {
    "int": ArgumentKind.INT,
    "float": ArgumentKind.FLOAT,
    "bool": ArgumentKind.BOOL,
    "list": ArgumentKind.LIST,
    "tuple": ArgumentKind.TUPLE,
    "np.ndarray": ArgumentKind.ARRAY,
    "numpy.ndarray": ArgumentKind.ARRAY,
    "torch.Tensor": ArgumentKind.TENSOR,
}
_NEGATED_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def negate(node: ast.expr) -> ast.expr:
    """Return the negation of a condition, such as `x < 1` for `x >= 1`."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return inner
        case ast.BoolOp(op=op, values=values):
            operator: ast.boolop = ast.And() if isinstance(op, ast.Or) else ast.Or()
            return ast.BoolOp(operator, [negate(value) for value in values])
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return ast.Compare(left, [_NEGATED_OPERATORS[type(op)]()], [right])
        case _:
            return ast.UnaryOp(ast.Not(), node)


def conjuncts(node: ast.expr) -> list[ast.expr]:
    """Return the conditions that an expression joins with `and`, or the expression itself."""
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return [part for value in values for part in conjuncts(value)]
        case _:
            return [node]


def names_in(node: ast.AST) -> set[str]:
    """Return the names in an expression."""
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def literal_values(node: ast.expr) -> tuple[PlainValue, ...] | None:
    """Return the value of a literal, or the items of a literal collection, as a tuple.

    For a dictionary, return its keys. Return None if the expression is not a literal, or if a value
    is not a number, a string, a bool or None.
    """
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    if isinstance(value, dict):
        value = list(value)
    values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    if not all(item is None or isinstance(item, bool | int | float | str) for item in values):
        return None
    return tuple(sorted(values, key=str) if isinstance(value, set | frozenset) else values)


def kinds_of_types(types: ast.expr) -> list[ArgumentKind]:
    """Return the kinds of the types in the second argument of `isinstance`.

    The list is empty if any of the types is unknown.
    """
    classes = types.elts if isinstance(types, ast.Tuple) else [types]
    known = [_TYPES.get(ast.unparse(item)) for item in classes]
    kinds = [kind for kind in known if kind is not None]
    return kinds if len(kinds) == len(classes) else []
