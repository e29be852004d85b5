"""Mines frequent patterns level by level: each extends a frequent pattern by one token."""

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
"""Tolerance of sums of weights, so that rounding errors do not change the result."""
Matches: TypeAlias = "dict[int, int]"
"""Positions where a pattern's matches end, by the index of the sentence group."""


@dataclass(frozen=True, slots=True)
class SentenceGroup:
    """Labelled sentences with the same normal form: many parameters may share a sentence."""

    words: tuple[str, ...]
    """Words and placeholders of the normal form."""
    labels: Mapping[Labels, float]
    """Weight of each set of labels; annotations of one sentence may differ."""

    @property
    def weight(self) -> float:
        """Weight of the whole group."""
        return sum(self.labels.values())


def group_sentences(samples: Iterable[AnnotatedSentence]) -> list[SentenceGroup]:
    """Return the samples grouped by normal form, in a stable order.

    The weight of n samples is the square root of n. A sentence that a hundred parameters share is
    stronger evidence than a sentence of a single parameter, but not a hundred times as strong.
    """
    counts_by_words: dict[tuple[str, ...], Counter[Labels]] = defaultdict(Counter)
    for sample in samples:
        counts_by_words[sample.words][sample.labels] += 1
    return [_group(words, counts_by_words[words]) for words in sorted(counts_by_words)]


def _group(words: tuple[str, ...], counts: Counter[Labels]) -> SentenceGroup:
    scale = 1 / math.sqrt(counts.total())
    return SentenceGroup(words, {labels: count * scale for labels, count in counts.items()})


def frequent_patterns(
    rows: Sequence[SentenceGroup], min_support: float, *, structure: PatternStructure | None = None
) -> list[tuple[Pattern, tuple[int, ...]]]:
    """Return the minimal frequent patterns, each with the indices of the groups that it matches.

    A pattern is left out if it matches the same groups without one of its tokens. A pattern whose
    groups all have the same labels is not extended. Source: DocTer, section 3.2.

    Args:
        rows: the groups of labelled sentences.
        min_support: minimum weight of the sentences that a pattern must match.
        structure: the kind of patterns; gapped sequences by default.
    """
    miner = _Miner(rows, min_support, structure or GappedSequences())
    return [(pattern, tuple(sorted(matches))) for pattern, matches in miner.patterns()]


class _Miner:
    """Search for the minimal frequent patterns of sentence groups."""

    def __init__(
        self, rows: Sequence[SentenceGroup], min_support: float, structure: PatternStructure
    ) -> None:
        self._rows = rows
        self._weights = [row.weight for row in rows]
        self._min_support = min_support
        self._structure = structure
        self._group_counts: dict[Pattern, int] = {}
        """Number of groups that each pattern matches."""

    def patterns(self) -> Iterator[tuple[Pattern, Matches]]:
        """Yield all minimal frequent patterns, the shorter ones first."""
        level = self._initial_patterns()
        while level:
            yield from level.items()
            self._group_counts.update({pattern: len(matches) for pattern, matches in level.items()})
            level = {
                longer_pattern: longer_matches
                for pattern, matches in level.items()
                if len(pattern) < MAX_PATTERN_LENGTH and not self._is_pure(matches)
                for longer_pattern, longer_matches in self._extended_patterns(pattern, matches)
            }

    def _initial_patterns(self) -> dict[Pattern, Matches]:
        """Return the frequent patterns of one token, with or without an anchor."""
        matches_by_pattern: dict[Pattern, Matches] = defaultdict(dict)
        for number, row in enumerate(self._rows):
            for pattern, position in self._structure.starts(row.words):
                matches_by_pattern[pattern].setdefault(number, position)
        return {
            pattern: matches
            for pattern, matches in matches_by_pattern.items()
            if self._support(matches) >= self._min_support
            and (len(pattern) == 1 or len(matches) < len(matches_by_pattern[pattern[1:]]))
        }

    def _extended_patterns(
        self, pattern: Pattern, matches: Matches
    ) -> Iterator[tuple[Pattern, Matches]]:
        """Yield the minimal frequent patterns that extend `pattern` by one token."""
        matches_by_item: dict[str, Matches] = defaultdict(dict)
        for number, position in matches.items():
            for item, end in self._structure.extensions(self._rows[number].words, position):
                matches_by_item[item].setdefault(number, end)
        for item, longer_matches in matches_by_item.items():
            if (
                len(longer_matches) == len(matches)
                or self._support(longer_matches) < self._min_support
            ):
                continue
            longer_pattern = (*pattern, item)
            if self._is_minimal(longer_pattern, len(longer_matches)):
                yield longer_pattern, longer_matches

    def _support(self, matches: Matches) -> float:
        """Return the total weight of the matching sentence groups."""
        return sum(self._weights[number] for number in matches) + _ROUNDING

    def _is_pure(self, matches: Matches) -> bool:
        """Return whether all matching sentences have the same labels."""
        labels = {label for number in matches for label in self._rows[number].labels}
        return len(labels) == 1

    def _is_minimal(self, pattern: Pattern, group_count: int) -> bool:
        """Return whether every pattern with one token less matches more groups."""
        is_anchored = pattern[0] == START or pattern[-1] == END
        for shorter_pattern in _shorter(pattern):
            shorter_count = self._group_counts.get(shorter_pattern)
            if shorter_count == group_count or (shorter_count is None and not is_anchored):
                return False
        return True


def _shorter(pattern: Pattern) -> Iterator[Pattern]:
    """Yield the patterns with one token less; the last token and anchored tokens stay."""
    for index in range(len(pattern) - 1):
        if pattern[0] == START and (index == 1 or len(pattern) == 2):  # noqa: PLR2004 - an anchor and a token
            continue
        if pattern[-1] == END and index == len(pattern) - 2:
            continue
        yield pattern[:index] + pattern[index + 1 :]
