"""Learns rules from labelled sentences: keeps the frequent patterns that decide a constraint."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.concrete import FIELDS
from ciguard.knowledge.mining.mine import frequent_patterns, group_sentences
from ciguard.knowledge.mining.rules import MiningRule, RuleSet, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.knowledge.mining.annotations import AnnotatedSentence
    from ciguard.knowledge.mining.mine import SentenceGroup
    from ciguard.knowledge.mining.structure import Pattern, PatternStructure

SHARED = "shared"
"""Name of the rules that were learned from all libraries together."""
SHARED_FIELDS = ("range", "enum")
"""Fields of which rules are also learned from all libraries together.

Few sentences of a library state a range or a choice, and those of other libraries do so alike."""
_DECIMALS = 3
"""Decimal places of support and hits; rounded before use, so that a rule file is exact."""


def learn(
    library: str,
    samples: Iterable[AnnotatedSentence],
    *,
    thresholds: Thresholds | None = None,
    structure: PatternStructure | None = None,
) -> RuleSet:
    """Return the rules that explain labelled sentences.

    For each sentence and field, the best rules that state a constraint are kept, and the best
    exceptions: `thresholds.breadth` of each. Other rules would decide nothing.
    """
    thresholds = thresholds or Thresholds()
    samples = list(samples)
    rows = group_sentences(samples)
    best = _BestRules(len(rows), thresholds)
    for pattern, numbers in frequent_patterns(rows, thresholds.min_support, structure=structure):
        for rule in _rules(pattern, [rows[number] for number in numbers]):
            best.offer(rule, numbers)
    return RuleSet(
        library=library,
        sentences=len(samples),
        thresholds=thresholds,
        rules=tuple(sorted(best.rules())),
    )


def learn_all(
    samples: Mapping[str, Sequence[AnnotatedSentence]],
    *,
    thresholds: Thresholds | None = None,
    structure: PatternStructure | None = None,
) -> list[RuleSet]:
    """Return the rules of each library, and those of all libraries together, called `SHARED`.

    Args:
        samples: labelled sentences by library.
        thresholds: limits that decide which patterns become rules.
        structure: the kind of patterns; gapped sequences by default.
    """
    learn_from = partial(learn, thresholds=thresholds, structure=structure)
    names = sorted(samples)
    together = learn_from(SHARED, [sample for name in names for sample in samples[name]])
    shared = tuple(rule for rule in together.rules if rule.field in SHARED_FIELDS)
    return [*(learn_from(name, samples[name]) for name in names), replace(together, rules=shared)]


def _rules(pattern: Pattern, rows: Sequence[SentenceGroup]) -> Iterator[MiningRule]:
    """Yield one rule per field and distinct set of values in the matching sentences."""
    support = round(sum(row.weight for row in rows), _DECIMALS)
    hits: dict[str, dict[tuple[str, ...], float]] = {name: defaultdict(float) for name in FIELDS}
    for row in rows:
        for labels, weight in row.labels.items():
            for name in FIELDS:
                values = tuple(sorted(value for owner, value in labels if owner == name))
                hits[name][values] += weight
    for name, weights in hits.items():
        for values, weight in weights.items():
            yield MiningRule(name, pattern, values, support, round(weight, _DECIMALS))


class _BestRules:
    """The best rules and the best exceptions for every sentence group and field."""

    def __init__(self, row_count: int, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._best: list[
            dict[tuple[str, bool], list[tuple[tuple[float, float, int], MiningRule]]]
        ] = [defaultdict(list) for _ in range(row_count)]

    def offer(self, rule: MiningRule, numbers: Iterable[int]) -> None:
        """Keep the rule for those of the numbered sentence groups where it ranks among the best."""
        if not rule.is_exception and rule.confidence < self._thresholds.min_confidence:
            return
        ranked_rule = (*self._thresholds.rank(rule), -len(rule.pattern)), rule
        key = rule.field, rule.is_exception
        for number in numbers:
            best = self._best[number][key]
            if len(best) < self._thresholds.breadth:
                best.append(ranked_rule)
            elif ranked_rule > min(best):
                best.remove(min(best))
                best.append(ranked_rule)

    def rules(self) -> set[MiningRule]:
        """Return the kept rules, and the kept exceptions to them."""
        return {
            rule
            for best in self._best
            for (name, _), ranked_rules in best.items()
            if best.get((name, False))
            for _, rule in ranked_rules
        }
