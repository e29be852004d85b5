"""Failures of functions: exceptions, and calls that do not return."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.exploration.stub_response import StubResponse
from ciguard.sources import UnreadableSourceError, parse_file

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.static_analysis.findings import ServiceFunction

EXIT_EXCEPTIONS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
"""Exceptions by which an application exits on purpose."""

Answers: TypeAlias = tuple[StubResponse, ...]
"""Stub responses, one for each operation that a function calls."""


@dataclass(frozen=True, slots=True)
class Crash:
    """An uncaught exception of a function."""

    error: str
    """Type and message of the exception."""
    file: str
    line: int
    answers: Answers
    """Stub responses of the first call that raised the exception."""
    function: str = ""
    """Innermost function of the application in the traceback."""
    is_judged: bool = True
    """False for an exception that a missing file, network or key may cause."""

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the stub responses."""
        return titles_of(self.answers)

    @property
    def refusal(self) -> str:
        """Message of the service that refused the request; empty if no service did."""
        return next((answer.title for answer in self.answers if answer.is_refusal), "")


@dataclass(frozen=True, slots=True)
class Hang:
    """A call that did not return."""

    behaviour: str
    """Behaviour of the call instead of returning, such as `does not end`."""
    answers: Answers

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the stub responses."""
        return titles_of(self.answers)


def titles_of(answers: Answers) -> tuple[str, ...]:
    """Return the titles of stub responses with their operations."""
    return tuple(f"{answer.operation.name}: {answer.title}" for answer in answers)


def crash_of(
    exception: Json, answers: Answers, called: ServiceFunction, root: Path
) -> Crash | None:
    """Return an exception as a crash; None if the application raises the exception on purpose.

    Args:
        exception: the exception of a `CallEnded`.
        answers: the stub responses of the call.
        called: the function that was called.
        root: the folder of the application.
    """
    frames = exception["frames"]
    if exception["type"] in EXIT_EXCEPTIONS:
        return None
    file, line = (frames[-1][0], frames[-1][1]) if frames else (called.file, 0)
    if exception["own"] and _is_raising_line(root / file, line):
        return None
    error = f"{exception['type']}: {exception['message']}"
    function = frames[-1][2] if frames else ""
    return Crash(error, file, line, answers, function, is_judged=not exception["lacks"])


def _is_raising_line(file: Path, line: int) -> bool:
    """Return whether a line of a file belongs to a `raise` or `assert` statement."""
    try:
        tree = parse_file(file)
    except (OSError, UnreadableSourceError):
        return False
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    innermost = max(statements, key=lambda node: (node.lineno, node.col_offset), default=None)
    return isinstance(innermost, ast.Raise | ast.Assert)
