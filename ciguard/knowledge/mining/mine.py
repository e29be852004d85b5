"""Mines frequent patterns: level by level, each one token longer than a frequent one before."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.knowledge.mining.structure import (
    END,
    MAX_PATTERN_LENGTH,
    START,
    GappedSequences,
    PatternStructure,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.knowledge.mining.annotations import AnnotatedSentence, Labels
    from ciguard.knowledge.mining.structure import Pattern

_ROUNDING = 1e-9
"""Two halves are a whole, whatever their sum is in floating point."""
Matches: TypeAlias = "dict[int, int]"
"""Number of a row to the position where the match ends in it."""


@dataclass(frozen=True, slots=True)
class SentenceGroup:
    """All samples of one normal form: a sentence that many parameters share is looked at once."""

    words: tuple[str, ...]
    labels: Mapping[Labels, float]
    """Weight of each set of constraints; annotators do not always agree with themselves."""

    @property
    def weight(self) -> float:
        """What the row counts for."""
        return sum(self.labels.values())


def rows_of(samples: Iterable[AnnotatedSentence]) -> list[SentenceGroup]:
    """Group samples by normal form, in a stable order.

    A form of n samples weighs the square root of n: a sentence that a hundred parameters share is
    stronger evidence than one that a single parameter has, but not a hundred times as strong.
    """
    grouped: dict[tuple[str, ...], Counter[Labels]] = defaultdict(Counter)
    for sample in samples:
        grouped[sample.words][sample.labels] += 1
    return [_row(words, grouped[words]) for words in sorted(grouped)]


def _row(words: tuple[str, ...], counts: Counter[Labels]) -> SentenceGroup:
    scale = 1 / math.sqrt(counts.total())
    return SentenceGroup(words, {labels: count * scale for labels, count in counts.items()})


def frequent(
    rows: Sequence[SentenceGroup], min_support: float, *, structure: PatternStructure | None = None
) -> list[tuple[Pattern, tuple[int, ...]]]:
    """Return the frequent patterns and the numbers of the rows that each matches.

    Only minimal ones: a pattern that matches the same rows as one without one of its tokens is
    left out, and one whose rows all have the same constraints is not made any longer (of nested
    patterns with the same power the smallest, DocTer section 3.2).

    Args:
        rows: the labelled sentences.
        min_support: weight of the sentences that a pattern must match.
        structure: what patterns are; gapped sequences when not given.
    """
    miner = _Miner(rows, min_support, structure or GappedSequences())
    return [(pattern, tuple(sorted(found))) for pattern, found in miner.patterns()]


class _Miner:
    def __init__(
        self, rows: Sequence[SentenceGroup], min_support: float, structure: PatternStructure
    ) -> None:
        self._rows = rows
        self._weights = [row.weight for row in rows]
        self._min_support = min_support
        self._structure = structure
        self._sizes: dict[Pattern, int] = {}
        """Rows matched by each pattern found so far."""

    def patterns(self) -> Iterator[tuple[Pattern, Matches]]:
        level = self._smallest()
        while level:
            yield from level.items()
            self._sizes.update({pattern: len(found) for pattern, found in level.items()})
            level = {
                longer: found
                for pattern, matches in level.items()
                if len(pattern) < MAX_PATTERN_LENGTH and not self._is_pure(matches)
                for longer, found in self._grown(pattern, matches)
            }

    def _smallest(self) -> dict[Pattern, Matches]:
        found: dict[Pattern, Matches] = defaultdict(dict)
        for number, row in enumerate(self._rows):
            for pattern, position in self._structure.starts(row.words):
                found[pattern].setdefault(number, position)
        return {
            pattern: matches
            for pattern, matches in found.items()
            if self._support(matches) >= self._min_support
            and (len(pattern) == 1 or len(matches) < len(found[pattern[1:]]))
        }

    def _grown(self, pattern: Pattern, matches: Matches) -> Iterator[tuple[Pattern, Matches]]:
        found: dict[str, Matches] = defaultdict(dict)
        for number, position in matches.items():
            for item, end in self._structure.extensions(self._rows[number].words, position):
                found[item].setdefault(number, end)
        for item, narrower in found.items():
            if len(narrower) == len(matches) or self._support(narrower) < self._min_support:
                continue
            longer = (*pattern, item)
            if self._is_minimal(longer, len(narrower)):
                yield longer, narrower

    def _support(self, matches: Matches) -> float:
        return sum(self._weights[number] for number in matches) + _ROUNDING

    def _is_pure(self, matches: Matches) -> bool:
        labels = {label for number in matches for label in self._rows[number].labels}
        return len(labels) == 1

    def _is_minimal(self, pattern: Pattern, size: int) -> bool:
        """Return whether every pattern with one token less matches more rows."""
        is_anchored = pattern[0] == START or pattern[-1] == END
        for shorter in _shorter(pattern):
            known = self._sizes.get(shorter)
            if known == size or (known is None and not is_anchored):
                return False
        return True


def _shorter(pattern: Pattern) -> Iterator[Pattern]:
    """Yield the pattern less each token but the last; an anchor's token stays with its anchor."""
    for index in range(len(pattern) - 1):
        if pattern[0] == START and (index == 1 or len(pattern) == 2):  # noqa: PLR2004 - anchor, token
            continue
        if pattern[-1] == END and index == len(pattern) - 2:
            continue
        yield pattern[:index] + pattern[index + 1 :]
