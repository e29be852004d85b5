"""The structure of a sentence: ordered sequences of its tokens, with gaps, anchored or not.

DocTer mines subtrees of dependency parses. Gapped sequences over the normal form reach the same
quality and need no parser; whoever has a parser writes another `PatternStructure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START, END = "^", "$"
"""Anchors: the next token of the pattern is the sentence's first, the one before is its last."""
MAX_PATTERN_LENGTH = 7
"""Tokens of a pattern, anchors included: |t| <= 7 in the paper."""
MAX_SENTENCE_LENGTH = 60
"""Tokens of a sentence that are looked at."""

Pattern: TypeAlias = tuple[str, ...]


class PatternStructure(Protocol):
    """How patterns grow and where they match. Positions are counted in tokens."""

    def starts(self, tokens: Sequence[str]) -> Iterator[tuple[Pattern, int]]:
        """Yield the smallest patterns of a sentence, each with the position where it ends."""

    def extensions(self, tokens: Sequence[str], position: int) -> Iterator[tuple[str, int]]:
        """Yield each item that may follow a match that ends at `position`, and where it ends."""

    def matches(self, pattern: Pattern, tokens: Sequence[str]) -> bool:
        """Return whether a sentence contains the pattern."""


class GappedSequences:
    """Tokens in their order, anything between them."""

    def starts(self, tokens: Sequence[str]) -> Iterator[tuple[Pattern, int]]:
        """Yield every distinct token, and the first one once more with its anchor."""
        for item, position in self._after(tokens, -1):
            yield (item,), position
        if tokens:
            yield (START, tokens[0]), 0

    def extensions(self, tokens: Sequence[str], position: int) -> Iterator[tuple[str, int]]:
        """Yield every distinct token behind `position` where it first stands, and the anchor."""
        yield from self._after(tokens, position)
        last = min(len(tokens), MAX_SENTENCE_LENGTH) - 1
        if position <= last and tokens[last] == tokens[position]:
            yield END, last + 1

    def _after(self, tokens: Sequence[str], position: int) -> Iterator[tuple[str, int]]:
        seen: set[str] = set()
        for index in range(position + 1, min(len(tokens), MAX_SENTENCE_LENGTH)):
            if tokens[index] not in seen:
                seen.add(tokens[index])
                yield tokens[index], index

    def matches(self, pattern: Pattern, tokens: Sequence[str]) -> bool:
        """Match from left to right, each token where it first stands."""
        tokens = tokens[:MAX_SENTENCE_LENGTH]
        position, items = 0, pattern
        if pattern[0] == START:
            if not tokens or tokens[0] != pattern[1]:
                return False
            position, items = 1, pattern[2:]
        for index, item in enumerate(items):
            if item == END:
                before = items[index - 1] if index else pattern[1]
                return tokens[-1] == before
            try:
                position = tokens.index(item, position) + 1
            except ValueError:
                return False
        return True
