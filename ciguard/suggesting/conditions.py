"""Conditions as expressions: taken apart, and turned into their contrary."""

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
_CONTRARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
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
    """Return the contrary of a condition, in the form that a person would write."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return inner
        case ast.BoolOp(op=op, values=values):
            other: ast.boolop = ast.And() if isinstance(op, ast.Or) else ast.Or()
            return ast.BoolOp(other, [negated(value) for value in values])
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return ast.Compare(left, [_CONTRARY[type(op)]()], [right])
        case _:
            return ast.UnaryOp(ast.Not(), node)


def conjuncts(node: ast.expr) -> list[ast.expr]:
    """Return conditions that all hold where this one does, and only there."""
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return [part for value in values for part in conjuncts(value)]
        case _:
            return [node]


def names_in(node: ast.AST) -> set[str]:
    """Return the names that an expression reads."""
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def values_in(node: ast.expr) -> tuple[Plain, ...] | None:
    """Return the value of a literal, or the values of a collection of literals; else None."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    if isinstance(value, dict):
        value = list(value)
    many = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    if not all(item is None or isinstance(item, bool | int | float | str) for item in many):
        return None
    return tuple(sorted(many, key=str) if isinstance(value, set | frozenset) else many)


def kinds_named(types: ast.expr) -> list[ArgumentKind]:
    """Return what the second argument of `isinstance` stands for; nothing if a part is unknown."""
    every = types.elts if isinstance(types, ast.Tuple) else [types]
    found = [_TYPES.get(ast.unparse(item)) for item in every]
    kinds = [kind for kind in found if kind is not None]
    return kinds if len(kinds) == len(every) else []
