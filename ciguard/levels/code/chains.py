"""Expressions as steps from the data outwards: `f(g(x))` is `g`, then `f`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.code.syntax import loads
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINKS = (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on the data within an expression."""

    node: ast.expr
    child: ast.expr | None
    """What it is done to; None where the variable stands in several places, or in no plain one."""


def steps_of(expression: ast.expr, variable: str) -> list[Step] | None:
    """Return what an expression does to a variable, the innermost first.

    Returns:
        None where the variable does not stand in it; nothing where the expression is it.
    """
    steps: list[Step] = []
    node = expression
    while not (isinstance(node, ast.Name) and node.id == variable):
        holding = [part for part in _parts(node) if variable in loads(part)]
        if not holding:
            return None
        child = holding[0] if len(holding) == 1 and isinstance(holding[0], _LINKS) else None
        steps.append(Step(node, child))
        if child is None:
            break
        node = child
    return steps[::-1]


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the sub-expressions of one node that the data may stand in."""
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
    """Return the expression that a statement gives to one variable, or returns.

    Args:
        statement: any.
        call: of `keras.Model`, where the statement holds it: what it names as outputs is returned.
    """
    if call is not None:
        outputs = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "outputs")]
        return outputs[0] if outputs else None
    match statement:
        case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name()) | ast.Return():
            return statement.value
        case _:
            return None
