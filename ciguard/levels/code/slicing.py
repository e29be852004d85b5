"""What of a program is needed to make its model, and nothing else."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.models import Style, adds
from ciguard.levels.code.syntax import loads
from ciguard.sources import bound_in, dotted_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.programs import Program

_SETTINGS = ("numpy.random", "random")
"""Beside the library: what is called for its effect on what comes later."""


def creation(
    program: Program, style: Style, owner: str, variable: str
) -> tuple[list[ast.stmt], str]:
    """Return the statements that make a program's model, and the expression that is the model.

    Args:
        program: in which only what is wanted of the model is left.
        style: of the model.
        owner: the class or function that it stands in; empty: top level.
        variable: that a serial model is given to; empty: any.

    Raises:
        DisassemblyError: if the program never makes the model, or in a way that is not understood.
    """
    if style is Style.FUNCTION:
        at_top = next(one for one in program.tree.body if owner in bound_in(one))
        before = program.tree.body[: program.tree.body.index(at_top) + 1]
        return _needed(program, before, loads(at_top) | {owner}), owner
    last, model = _made(program, style, owner, variable)
    before = [*_before(program, last), last]
    return _needed(program, before, {model}), model


def _made(program: Program, style: Style, owner: str, known: str) -> tuple[ast.stmt, str]:
    """Return the statement after which the model is there, and its variable."""
    for statement in _statements(program, owner):
        match statement:
            case ast.Assign(targets=[ast.Name(id=variable)], value=value) if _makes(
                program, value, style, owner
            ) and (owner or known in {"", variable}):
                if style is Style.ADDED and not owner:
                    body = program.body(statement)
                    return [one for one in body if one is statement or adds(one, variable)][
                        -1
                    ], variable
                return statement, variable
    msg = "the model is given to no variable"
    raise DisassemblyError(msg)


def _statements(program: Program, owner: str) -> Iterator[ast.stmt]:
    for node in ast.walk(program.tree):
        if not isinstance(node, ast.stmt):
            continue
        inside = program.function_of(node)
        if inside is None or inside.name != owner:
            yield node


def _makes(program: Program, value: ast.expr, style: Style, owner: str) -> bool:
    wanted = {"Model", "Functional"} if style is Style.SYMBOLIC else {"Sequential"}
    for node in ast.walk(value):
        if not isinstance(node, ast.Call):
            continue
        if owner and dotted_name(node.func) == owner:
            return True
        if not owner and program.api(node).rpartition(".")[2] in wanted:
            return True
    return False


def _before(program: Program, last: ast.stmt) -> list[ast.stmt]:
    """Return what is run before a statement: of the top level, and of the functions around it."""
    found: list[ast.stmt] = []
    statement = last
    while True:
        body = program.body(statement)
        found[:0] = body[: body.index(statement)]
        parent = program.parents[id(statement)]
        if not isinstance(parent, ast.stmt):
            return found
        statement = parent


def _needed(program: Program, statements: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """Return those statements that the names depend on, imports and settings of the library."""
    wanted = set(names)
    kept: list[ast.stmt] = []
    for statement in reversed(statements):
        if _is_kept(program, statement, wanted):
            kept.append(statement)
            wanted |= loads(statement)
    return kept[::-1]


def _is_kept(program: Program, statement: ast.stmt, wanted: set[str]) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)) or wanted & bound_in(statement):
        return True
    return any(_has_effect(program, node, wanted) for node in ast.walk(statement))


def _has_effect(program: Program, node: ast.AST, wanted: set[str]) -> bool:
    """Return whether something that is wanted is changed, or a setting of the library."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)):
            name = program.imports.imported(called)
            if name:
                return program.dialect.owns(name) or name.startswith(_SETTINGS)
            return dotted_name(called).partition(".")[0] in wanted
        case ast.Assign(targets=[ast.Attribute() as target]):
            name = program.imports.imported(target)
            return bool(name) or dotted_name(target).partition(".")[0] in wanted
        case _:
            return False
