"""Patterns for sentences: sequences of tokens with gaps, optionally anchored at either end.

DocTer mines subtrees of dependency parses. Gapped sequences over the normal form reach the same
quality and need no parser. `PatternStructure` is the interface for other kinds of patterns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START, END = "^", "$"
"""Anchors: the token after `^` must be the sentence's first, the one before `$` its last."""
MAX_PATTERN_LENGTH = 7
"""Maximum number of tokens of a pattern, anchors included: |t| <= 7 in DocTer."""
MAX_SENTENCE_LENGTH = 60
"""Maximum number of tokens of a sentence that patterns can match."""

Pattern: TypeAlias = tuple[str, ...]
"""Tokens of a pattern, in order."""


class PatternStructure(Protocol):
    """Kind of patterns: how they grow and where they match. Positions are counted in tokens."""

    def starts(self, tokens: Sequence[str]) -> Iterator[tuple[Pattern, int]]:
        """Yield the smallest patterns that match a sentence, each with its end position."""

    def extensions(self, tokens: Sequence[str], position: int) -> Iterator[tuple[str, int]]:
        """Yield each item that can extend a match ending at `position`, and its end position."""

    def matches(self, pattern: Pattern, tokens: Sequence[str]) -> bool:
        """Return whether a sentence contains the pattern."""


class GappedSequences:
    """Patterns whose tokens must occur in order, with any tokens between them."""

    def starts(self, tokens: Sequence[str]) -> Iterator[tuple[Pattern, int]]:
        """Yield every distinct token, and the first token also with its anchor."""
        for item, position in self._after(tokens, -1):
            yield (item,), position
        if tokens:
            yield (START, tokens[0]), 0

    def extensions(self, tokens: Sequence[str], position: int) -> Iterator[tuple[str, int]]:
        """Yield each distinct later token with its first position, and the end anchor."""
        yield from self._after(tokens, position)
        last_index = min(len(tokens), MAX_SENTENCE_LENGTH) - 1
        if position <= last_index and tokens[last_index] == tokens[position]:
            yield END, last_index + 1

    def _after(self, tokens: Sequence[str], position: int) -> Iterator[tuple[str, int]]:
        seen_tokens: set[str] = set()
        for index in range(position + 1, min(len(tokens), MAX_SENTENCE_LENGTH)):
            if tokens[index] not in seen_tokens:
                seen_tokens.add(tokens[index])
                yield tokens[index], index

    def matches(self, pattern: Pattern, tokens: Sequence[str]) -> bool:
        """Return whether the tokens occur in order; each is matched at its first occurrence."""
        tokens = tokens[:MAX_SENTENCE_LENGTH]
        position, items = 0, pattern
        if pattern[0] == START:
            if not tokens or tokens[0] != pattern[1]:
                return False
            position, items = 1, pattern[2:]
        for index, item in enumerate(items):
            if item == END:
                previous = items[index - 1] if index else pattern[1]
                return tokens[-1] == previous
            try:
                position = tokens.index(item, position) + 1
            except ValueError:
                return False
        return True
