"""Diffs between a program and its parent in the derivation tree."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import unified_diff
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.domain.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_LINES = 1_000
"""Maximum number of lines of a program. The time for a diff grows with their square."""
_MAX_CHARACTERS = 100_000
_MAX_LINE_LENGTH = 160
_LINE_END = re.compile(r"\r\n|\r|\n")
_HUNK_HEADER = re.compile(r"@@ -\S+ \+(\d+)")


class LineKind(StrEnum):
    """Kind of a line in a diff. The value is the line's first character."""

    KEPT = " "
    """A line that both programs have."""
    ADDED = "+"
    REMOVED = "-"
    PLACE = "@"
    """A hunk header with line numbers."""
    LEFT_OUT = "…"
    """A line that states the number of omitted lines."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff."""

    kind: LineKind
    text: str
    """The line without the first character. May hold fuzzed text, but no line ends."""
    is_changed_call: bool = False
    """True if the mutated call starts in the line."""

    def __str__(self) -> str:
        """Return the line in the unified format."""
        return f"{'@' if self.kind is LineKind.PLACE else self.kind.value}{self.text}"


def program_diff(
    before: str, after: str, *, line: int, context: int = 2, max_lines: int = 60
) -> list[DiffLine]:
    """Return a diff of two programs; empty if they are equal or too long.

    Args:
        before: source of the parent program.
        after: source of the derived program.
        line: line of the mutated call in `after`, from 1; 0 if there is none.
        context: number of unchanged lines around each change.
        max_lines: maximum number of lines, not counting the last line "N more lines".
    """
    if max(len(before), len(after)) > _MAX_CHARACTERS:
        return []
    old, new = (_LINE_END.split(text.removesuffix("\n")) for text in (before, after))
    if max(len(old), len(new)) > _MAX_LINES:
        return []
    texts = islice(unified_diff(old, new, n=context, lineterm=""), 2, None)  # without file names
    lines = list(_diff_lines(texts, line))
    if len(lines) <= max_lines:
        return lines
    omitted = f" {len(lines) - max_lines:,} more lines"
    return [*lines[:max_lines], DiffLine(LineKind.LEFT_OUT, omitted)]


def _diff_lines(texts: Iterator[str], line: int) -> Iterator[DiffLine]:
    """Yield the lines of a diff. The line at `line` of the new program is marked."""
    number = 0
    for text in texts:
        diff_line = DiffLine(LineKind(text[0]), shortened(text[1:], _MAX_LINE_LENGTH))
        if diff_line.kind is LineKind.PLACE:
            header = _HUNK_HEADER.match(text)
            number = int(header[1]) if header else 0
        elif diff_line.kind is not LineKind.REMOVED:
            diff_line = replace(diff_line, is_changed_call=number == line)
            number += 1
        yield diff_line
