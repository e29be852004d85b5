"""Literals in an application's source: texts, numbers and regular expressions."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.findings import ServiceFunction

_MAX_TEXT_LENGTH = 60
_PATTERN_SYNTAX = re.compile(r"\\[dwsbDWS]|\[[^]]+\]|\(\?|\.[*+]")
"""Syntax that is common in regular expressions and rare in other texts."""


@dataclass(frozen=True, slots=True)
class Hints:
    """Literals that a function's conditions may compare with.

    `patterns` are texts that look like regular expressions; they are not among `texts`.
    """

    texts: tuple[str, ...]
    numbers: tuple[float, ...]
    patterns: tuple[str, ...]


def hints_of(application: Application, function: ServiceFunction) -> Hints:
    """Return the literals of a function, of its callees, and of their files' top-level code.

    Args:
        application: the parsed application.
        function: the function.
    """
    nodes = list(_nodes_of(application, function))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = (node for node in nodes if isinstance(node, ast.Constant))
    values = list(dict.fromkeys(node.value for node in constants if id(node) not in docstrings))
    texts = [
        value for value in values if isinstance(value, str) and 0 < len(value) <= _MAX_TEXT_LENGTH
    ]
    patterns = tuple(filter(_is_pattern, texts))
    return Hints(
        texts=tuple(value for value in texts if value not in patterns),
        numbers=tuple(float(value) for value in values if isinstance(value, int | float)),
        patterns=patterns,
    )


def _nodes_of(application: Application, function: ServiceFunction) -> Iterator[ast.AST]:
    places: dict[str, list[int]] = {function.file: [function.line]}
    for condition in function.goals:
        branch = condition.goal.branch
        places.setdefault(branch.file, []).append(branch.line)
    callees = {name for call in function.calls for name in call.call_path}
    for module in application.modules:
        for routine in module.routines:
            if f"{module.name}.{routine.name}" in callees:
                places.setdefault(module.file, []).append(routine.line)
    for module in application.modules:
        lines = places.get(module.file, ())
        # The first routine is the top-level code; its body is the whole file.
        for statement in module.routines[0].body if lines else ():
            yield from _around(statement, lines)


def _around(node: ast.AST, lines: Sequence[int]) -> Iterator[ast.AST]:
    """Yield a node and its descendants, without functions that contain none of the lines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        last = node.end_lineno or node.lineno
        if not any(node.lineno <= line <= last for line in lines):
            return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _around(child, lines)


def _is_pattern(text: str) -> bool:
    if not _PATTERN_SYNTAX.search(text):
        return False
    try:
        re.compile(text)
    except re.error:
        return False
    return True
