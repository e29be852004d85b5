"""Expressions as chains of operations on the data, the innermost first: `f(g(x))` is `g`, `f`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.code.syntax import names_read
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHAINED_NODES = (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on the data within an expression."""

    node: ast.expr
    """Expression of the operation."""
    child: ast.expr | None
    """Operand that holds the data; None if there are several, or it is of an unusual kind."""


def steps_of(expression: ast.expr, variable: str) -> list[Step] | None:
    """Return the operations of an expression on a variable, the innermost first.

    Returns:
        The operations; an empty list if the expression is the variable itself, None if the
        variable does not occur.
    """
    steps: list[Step] = []
    node = expression
    while not (isinstance(node, ast.Name) and node.id == variable):
        containing = [part for part in _data_operands(node) if variable in names_read(part)]
        if not containing:
            return None
        child = (
            containing[0]
            if len(containing) == 1 and isinstance(containing[0], _CHAINED_NODES)
            else None
        )
        steps.append(Step(node, child))
        if child is None:
            break
        node = child
    return steps[::-1]


def _data_operands(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the sub-expressions of a node that may hold the data."""
    if isinstance(node, ast.Call):
        if not dotted_name(node.func):
            yield node.func.value if isinstance(node.func, ast.Attribute) else node.func
        elif isinstance(node.func, ast.Attribute):
            yield node.func.value
        yield from node.args
        yield from (item.value for item in node.keywords)
    else:
        yield from (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def result_of(statement: ast.stmt, call: ast.Call | None = None) -> ast.expr | None:
    """Return the expression that a statement assigns to one variable or returns; None if neither.

    Args:
        statement: the statement to inspect.
        call: the call of `keras.Model` in the statement, if any; its outputs are the result.
    """
    if call is not None:
        outputs = [
            *call.args[1:2],
            *(word.value for word in call.keywords if word.arg == "outputs"),
        ]
        return outputs[0] if outputs else None
    match statement:
        case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name()) | ast.Return():
            return statement.value
        case _:
            return None
