"""Splits the text about one parameter into sentences, each with its place in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT_LENGTH = 20_000
"""Characters read of one text: what follows is no description of a parameter any more."""
MAX_SENTENCE_LENGTH = 1_500
"""Characters of one sentence; a longer one is cut there and goes on as the next."""

_END = re.compile(r"[.!?][`'\")\]]{0,3}(?=\s)|\n\s*\n|\n\s*(?=[-*•]\s)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|eg|ie|etc|vs|cf|eq|fig|sec|approx|resp|incl|no)|(?<=\s)[A-Z])\.$",
    re.IGNORECASE,
)
_LOOK_BACK = 12


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and where it stands."""

    text: str
    start: int
    """Offset of its first character in the text it was cut from."""

    @property
    def end(self) -> int:
        """Offset after its last character."""
        return self.start + len(self.text)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a description, in order and without the space around them.

    A sentence ends with a full stop before white space, except after an abbreviation, at a blank
    line and before a bullet. Takes time linear in the length of `text`, whatever it contains.
    """
    found: list[Sentence] = []
    start = 0
    text = text[:MAX_TEXT_LENGTH]
    for match in _END.finditer(text):
        if _goes_on(text, match):
            continue
        found += _pieces(text, start, match.end())
        start = match.end()
    return [*found, *_pieces(text, start, len(text))]


def _goes_on(text: str, end: re.Match[str]) -> bool:
    if text[end.start()] == "\n":
        return False
    before = text[max(0, end.start() - _LOOK_BACK) : end.start() + 1]
    return bool(_ABBREVIATION.search(before))


def _pieces(text: str, start: int, end: int) -> Iterator[Sentence]:
    for first in range(start, end, MAX_SENTENCE_LENGTH):
        piece = text[first : min(first + MAX_SENTENCE_LENGTH, end)]
        bare = piece.strip()
        if any(character.isalnum() for character in bare):
            yield Sentence(bare, first + len(piece) - len(piece.lstrip()))
