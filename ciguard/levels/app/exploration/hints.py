"""What an application's text speaks of: the texts, numbers and regular expressions in it."""

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
_OF_PATTERNS = re.compile(r"\\[dwsbDWS]|\[[^]]+\]|\(\?|\.[*+]")
"""What a regular expression has, and other texts have rarely."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What a function's conditions may compare with."""

    texts: tuple[str, ...]
    numbers: tuple[float, ...]
    patterns: tuple[str, ...]


def hints_of(application: Application, found: ServiceFunction) -> Hints:
    """Return what stands in a function, in those with its conditions, and outside of functions.

    Args:
        application: as read.
        found: the function.
    """
    nodes = list(_nodes_of(application, found))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = (one for one in nodes if isinstance(one, ast.Constant))
    values = list(dict.fromkeys(one.value for one in constants if id(one) not in docstrings))
    texts = [one for one in values if isinstance(one, str) and 0 < len(one) <= _MAX_TEXT_LENGTH]
    patterns = tuple(filter(_is_pattern, texts))
    return Hints(
        texts=tuple(one for one in texts if one not in patterns),
        numbers=tuple(float(one) for one in values if isinstance(one, int | float)),
        patterns=patterns,
    )


def _nodes_of(application: Application, found: ServiceFunction) -> Iterator[ast.AST]:
    places: dict[str, list[int]] = {found.file: [found.line]}
    for one in found.goals:
        places.setdefault(one.goal.branch.file, []).append(one.goal.branch.line)
    for module in application.modules:
        lines = places.get(module.file, ())
        # The first routine is what the file does itself: its body is all of the file.
        for statement in module.routines[0].body if lines else ():
            yield from _around(statement, lines)


def _around(node: ast.AST, lines: Sequence[int]) -> Iterator[ast.AST]:
    """Yield a node and what is in it, without functions that none of the lines is in."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        last = node.end_lineno or node.lineno
        if not any(node.lineno <= line <= last for line in lines):
            return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _around(child, lines)


def _is_pattern(text: str) -> bool:
    if not _OF_PATTERNS.search(text):
        return False
    try:
        re.compile(text)
    except re.error:
        return False
    return True
