"""What a function fails with: exceptions, and calls that do not return."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.exploration.answers import StubResponse
from ciguard.sources import UnreadableSourceError, parse_file

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.static_analysis.findings import ServiceFunction

LEAVING = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
"""What an application ends itself with."""

Answers: TypeAlias = tuple[StubResponse, ...]
"""One for each operation that a function asks."""


@dataclass(frozen=True, slots=True)
class Crash:
    """An exception that some answers bring about and others do not."""

    error: str
    """Type and message."""
    file: str
    line: int
    answers: Answers
    """What was answered when it was first met."""
    function: str = ""
    """The application's innermost function there."""
    is_judged: bool = True
    """False of an exception that may come from what is missing here: a file, a network, a key."""

    @property
    def titles(self) -> tuple[str, ...]:
        """What was answered, in words."""
        return titles_of(self.answers)

    @property
    def refusal(self) -> str:
        """What a service said that refused; empty if none did."""
        return next((one.title for one in self.answers if one.is_refusal), "")


@dataclass(frozen=True, slots=True)
class Hang:
    """A call that did not return."""

    instead: str
    """What it did, in words."""
    answers: Answers

    @property
    def titles(self) -> tuple[str, ...]:
        """What was answered, in words."""
        return titles_of(self.answers)


def titles_of(answers: Answers) -> tuple[str, ...]:
    """Return answers in words."""
    return tuple(f"{one.operation.name}: {one.title}" for one in answers)


def crash_of(raised: Json, answers: Answers, found: ServiceFunction, root: Path) -> Crash | None:
    """Return an exception as a failure; None where the application means to leave so.

    Args:
        raised: of `CallEnded`.
        answers: what was answered.
        found: the function that was called.
        root: folder of the application.
    """
    frames = raised["frames"]
    if raised["type"] in LEAVING:
        return None
    file, line = (frames[-1][0], frames[-1][1]) if frames else (found.file, 0)
    if raised["own"] and _raises(root / file, line):
        return None
    error = f"{raised['type']}: {raised['message']}"
    function = frames[-1][2] if frames else ""
    return Crash(error, file, line, answers, function, is_judged=not raised["lacks"])


def _raises(file: Path, line: int) -> bool:
    """Return whether a line raises, as an application means to: by `raise` or `assert`."""
    try:
        tree = parse_file(file)
    except (OSError, UnreadableSourceError):
        return False
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    inner = max(around, key=lambda node: (node.lineno, node.col_offset), default=None)
    return isinstance(inner, ast.Raise | ast.Assert)
