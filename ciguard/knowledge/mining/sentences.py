"""Splits the text about one parameter into sentences with their offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT_LENGTH = 20_000
"""Maximum number of characters that are read of one text."""
MAX_SENTENCE_LENGTH = 1_500
"""Maximum number of characters of one sentence; a longer sentence is split."""

_END = re.compile(r"[.!?][`'\")\]]{0,3}(?=\s)|\n\s*\n|\n\s*(?=[-*•]\s)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|eg|ie|etc|vs|cf|eq|fig|sec|approx|resp|incl|no)|(?<=\s)[A-Z])\.$",
    re.IGNORECASE,
)
_LOOK_BACK = 12
"""Number of characters before a full stop that are searched for an abbreviation."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with its offset."""

    text: str
    """Sentence without surrounding white space."""
    start: int
    """Offset of the first character in the whole text."""

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a description in order, without surrounding white space.

    A sentence ends at a blank line, before a bullet, and at a full stop before white space, except
    after an abbreviation. The time is linear in the length of `text` for every input.
    """
    result: list[Sentence] = []
    start = 0
    text = text[:MAX_TEXT_LENGTH]
    for match in _END.finditer(text):
        if _is_abbreviation(text, match):
            continue
        result += _pieces(text, start, match.end())
        start = match.end()
    return [*result, *_pieces(text, start, len(text))]


def _is_abbreviation(text: str, end: re.Match[str]) -> bool:
    """Return whether the full stop at a possible end belongs to an abbreviation."""
    if text[end.start()] == "\n":
        return False
    before = text[max(0, end.start() - _LOOK_BACK) : end.start() + 1]
    return bool(_ABBREVIATION.search(before))


def _pieces(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield a span of the text as sentences of limited length, without spans of punctuation."""
    for first in range(start, end, MAX_SENTENCE_LENGTH):
        piece = text[first : min(first + MAX_SENTENCE_LENGTH, end)]
        stripped_piece = piece.strip()
        if any(character.isalnum() for character in stripped_piece):
            yield Sentence(stripped_piece, first + len(piece) - len(piece.lstrip()))
