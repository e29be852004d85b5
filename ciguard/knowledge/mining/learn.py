"""Learns rules from labelled sentences: of the frequent patterns, those that decide something."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.concrete import FIELDS
from ciguard.knowledge.mining.mine import frequent, rows_of
from ciguard.knowledge.mining.rules import MiningRule, RuleSet, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.knowledge.mining.annotations import AnnotatedSentence
    from ciguard.knowledge.mining.mine import SentenceGroup
    from ciguard.knowledge.mining.structure import Pattern, PatternStructure

_DIGITS = 3
"""Of support and hits: what is written to a file is what counts."""


def learn(
    library: str,
    samples: Iterable[AnnotatedSentence],
    *,
    thresholds: Thresholds | None = None,
    structure: PatternStructure | None = None,
) -> RuleSet:
    """Return the rules behind labelled sentences.

    For each sentence and field the best rule that states a constraint is kept, and the best one
    that says there is none: a rule that never comes first for any sentence decides nothing.
    """
    thresholds = thresholds or Thresholds()
    samples = list(samples)
    rows = rows_of(samples)
    best = _Best(len(rows), thresholds)
    for pattern, numbers in frequent(rows, thresholds.min_support, structure=structure):
        for rule in _rules(pattern, [rows[number] for number in numbers]):
            best.offer(rule, numbers)
    return RuleSet(
        library=library,
        sentences=len(samples),
        thresholds=thresholds,
        rules=tuple(sorted(best.rules())),
    )


def _rules(pattern: Pattern, rows: Sequence[SentenceGroup]) -> Iterator[MiningRule]:
    """Yield one rule per field and distinct set of values in the matching sentences."""
    support = round(sum(row.weight for row in rows), _DIGITS)
    hits: dict[str, dict[tuple[str, ...], float]] = {name: defaultdict(float) for name in FIELDS}
    for row in rows:
        for labels, weight in row.labels.items():
            for name in FIELDS:
                values = tuple(sorted(value for of, value in labels if of == name))
                hits[name][values] += weight
    for name, weighed in hits.items():
        for values, weight in weighed.items():
            yield MiningRule(name, pattern, values, support, round(weight, _DIGITS))


class _Best:
    """Keeps, for every sentence and field, the best rules and the best exceptions."""

    def __init__(self, rows: int, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._kept: list[
            dict[tuple[str, bool], list[tuple[tuple[float, float, int], MiningRule]]]
        ] = [defaultdict(list) for _ in range(rows)]

    def offer(self, rule: MiningRule, numbers: Iterable[int]) -> None:
        if not rule.is_exception and rule.confidence < self._thresholds.min_confidence:
            return
        ranked = (*self._thresholds.rank(rule), -len(rule.pattern)), rule
        place = rule.field, rule.is_exception
        for number in numbers:
            kept = self._kept[number][place]
            if len(kept) < self._thresholds.breadth:
                kept.append(ranked)
            elif ranked > min(kept):
                kept.remove(min(kept))
                kept.append(ranked)

    def rules(self) -> set[MiningRule]:
        """Return the rules; exceptions only where there is something they are exceptions to."""
        return {
            rule
            for kept in self._kept
            for (name, _), ranked in kept.items()
            if kept.get((name, False))
            for _, rule in ranked
        }
