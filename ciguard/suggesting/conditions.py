"""Splits and negates conditions, and evaluates literals in them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import ArgumentKind

if TYPE_CHECKING:
    from ciguard.suggesting.clues import Plain

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


def negated(node: ast.expr) -> ast.expr:
    """Return the negation of a condition, in idiomatic form."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return inner
        case ast.BoolOp(op=op, values=values):
            operator: ast.boolop = ast.And() if isinstance(op, ast.Or) else ast.Or()
            return ast.BoolOp(operator, [negated(value) for value in values])
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return ast.Compare(left, [_NEGATED_OPERATORS[type(op)]()], [right])
        case _:
            return ast.UnaryOp(ast.Not(), node)


def conjuncts(node: ast.expr) -> list[ast.expr]:
    """Return the conditions whose conjunction is equivalent to this one."""
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return [part for value in values for part in conjuncts(value)]
        case _:
            return [node]


def names_in(node: ast.AST) -> set[str]:
    """Return the names in an expression."""
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def values_in(node: ast.expr) -> tuple[Plain, ...] | None:
    """Return the value of a literal, or the values of a collection of literals; else None."""
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


def kinds_named(types: ast.expr) -> list[ArgumentKind]:
    """Return the kinds that the second argument of `isinstance` names; empty if one is unknown."""
    classes = types.elts if isinstance(types, ast.Tuple) else [types]
    known = [_TYPES.get(ast.unparse(item)) for item in classes]
    kinds = [kind for kind in known if kind is not None]
    return kinds if len(kinds) == len(classes) else []
