"""What a derived program says otherwise than the one it was derived from, line by line."""

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

_MAX_COMPARED = 1_000
"""Lines of a program; comparing takes time that grows with their square."""
_MAX_CHARACTERS = 100_000
_MAX_WIDE = 160
_LINE_END = re.compile(r"\r\n|\r|\n")
_PLACE = re.compile(r"@@ -\S+ \+(\d+)")


class LineKind(StrEnum):
    """What a line of a diff is. The value is its first character."""

    KEPT = " "
    """It stands in both programs."""
    ADDED = "+"
    REMOVED = "-"
    PLACE = "@"
    """It says where in both programs the next lines stand."""
    LEFT_OUT = "…"
    """It says how much there is no room for."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff."""

    kind: LineKind
    text: str
    """Without the first character. May hold fuzzed text, never a line end."""
    is_changed_call: bool = False
    """True if the call that was mutated begins in it."""

    def __str__(self) -> str:
        """Return the line as programs that colour diffs read it."""
        return f"{'@' if self.kind is LineKind.PLACE else self.kind.value}{self.text}"


def program_diff(
    before: str, after: str, *, line: int, context: int = 2, most: int = 60
) -> list[DiffLine]:
    """Return a bounded diff of two programs; nothing where they are the same, or too long.

    Args:
        before: the parent's program.
        after: the derived one.
        line: of the call in `after` that was mutated, from 1; 0 for none.
        context: lines around each change that both have.
        most: lines that are returned at most; how many more there are is said in one more.
    """
    if max(len(before), len(after)) > _MAX_CHARACTERS:
        return []
    old, new = (_LINE_END.split(text.removesuffix("\n")) for text in (before, after))
    if max(len(old), len(new)) > _MAX_COMPARED:
        return []
    told = islice(unified_diff(old, new, n=context, lineterm=""), 2, None)  # behind the two names
    lines = list(_marked(told, line))
    if len(lines) <= most:
        return lines
    left_out = f" {len(lines) - most:,} more lines"
    return [*lines[:most], DiffLine(LineKind.LEFT_OUT, left_out)]


def _marked(told: Iterator[str], line: int) -> Iterator[DiffLine]:
    """Yield the lines of a diff; every one of `after` is counted."""
    number = 0
    for text in told:
        made = DiffLine(LineKind(text[0]), shortened(text[1:], _MAX_WIDE))
        if made.kind is LineKind.PLACE:
            place = _PLACE.match(text)
            number = int(place[1]) if place else 0
        elif made.kind is not LineKind.REMOVED:
            made = replace(made, is_changed_call=number == line)
            number += 1
        yield made
