"""Program slicing: the statements that create a program's model."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.models import Style, adds
from ciguard.levels.code.syntax import names_read
from ciguard.sources import dotted_name, names_bound_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.programs import Program

_SEEDED_MODULES = ("numpy.random", "random")
"""Modules besides the library whose calls affect later statements."""


def creation_statements(
    program: Program, style: Style, owner: str, variable: str
) -> tuple[list[ast.stmt], str]:
    """Return the statements that create a program's model, and an expression of the model.

    Args:
        program: the program, reduced to the required parts of the model.
        style: the style of the model.
        owner: the class or function that contains the model; empty for the top level.
        variable: the name of the variable of a sequential model; empty if unknown.

    Raises:
        DisassemblyError: if no statement assigns a new model to a variable.
    """
    if style is Style.FUNCTION:
        definition = next(node for node in program.tree.body if owner in names_bound_in(node))
        before = program.tree.body[: program.tree.body.index(definition) + 1]
        return _slice(program, before, names_read(definition) | {owner}), owner
    last, model = _creating_statement(program, style, owner, variable)
    before = [*_preceding(program, last), last]
    return _slice(program, before, {model}), model


def _creating_statement(
    program: Program, style: Style, owner: str, known: str
) -> tuple[ast.stmt, str]:
    """Return the statement after which the model is complete, and the name of its variable."""
    for statement in _statements(program, owner):
        match statement:
            case ast.Assign(targets=[ast.Name(id=variable)], value=value) if _creates_model(
                program, value, style, owner
            ) and (owner or known in {"", variable}):
                if style is Style.ADDED and not owner:
                    body = program.body(statement)
                    last = [s for s in body if s is statement or adds(s, variable)][-1]
                    return last, variable
                return statement, variable
    msg = "no statement creates the model and assigns it to a variable"
    raise DisassemblyError(msg)


def _statements(program: Program, owner: str) -> Iterator[ast.stmt]:
    """Yield the statements of a program, except for those in the function `owner`."""
    for node in ast.walk(program.tree):
        if not isinstance(node, ast.stmt):
            continue
        function = program.function_of(node)
        if function is None or function.name != owner:
            yield node


def _creates_model(program: Program, value: ast.expr, style: Style, owner: str) -> bool:
    names = {"Model", "Functional"} if style is Style.SYMBOLIC else {"Sequential"}
    for node in ast.walk(value):
        if not isinstance(node, ast.Call):
            continue
        if owner and dotted_name(node.func) == owner:
            return True
        if not owner and program.api(node).rpartition(".")[2] in names:
            return True
    return False


def _preceding(program: Program, last: ast.stmt) -> list[ast.stmt]:
    """Return the statements before a statement, in its body and in all bodies around it."""
    preceding: list[ast.stmt] = []
    statement = last
    while True:
        body = program.body(statement)
        preceding[:0] = body[: body.index(statement)]
        parent = program.parents[id(statement)]
        if not isinstance(parent, ast.stmt):
            return preceding
        statement = parent


def _slice(program: Program, statements: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """Return those statements that the names depend on; imports and settings are kept too."""
    needed = set(names)
    kept: list[ast.stmt] = []
    for statement in reversed(statements):
        if _is_needed(program, statement, needed):
            kept.append(statement)
            needed |= names_read(statement)
    return kept[::-1]


def _is_needed(program: Program, statement: ast.stmt, needed: set[str]) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)) or needed & names_bound_in(statement):
        return True
    return any(_has_effect(program, node, needed) for node in ast.walk(statement))


def _has_effect(program: Program, node: ast.AST, needed: set[str]) -> bool:
    """Return whether a node changes a needed object, the library's settings or a random state."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)):
            name = program.imports.imported(called)
            if name:
                return program.dialect.owns(name) or name.startswith(_SEEDED_MODULES)
            return dotted_name(called).partition(".")[0] in needed
        case ast.Assign(targets=[ast.Attribute() as target]):
            name = program.imports.imported(target)
            return bool(name) or dotted_name(target).partition(".")[0] in needed
        case _:
            return False
