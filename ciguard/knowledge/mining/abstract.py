"""Applies rules to the normal form of a sentence: which abstract constraints it states."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.structure import END, START, GappedSequences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.knowledge.mining.rules import MiningRule, RuleSet
    from ciguard.knowledge.mining.structure import Pattern, PatternStructure

_MAX_REMEMBERED = 20_000
"""Normal forms whose answer is kept; documentation repeats itself."""


class RuleBook:
    """A rule set, ready to be asked."""

    def __init__(self, rules: RuleSet, *, structure: PatternStructure | None = None) -> None:
        self._structure = structure or GappedSequences()
        self._thresholds = rules.thresholds
        self._margins = rules.thresholds.margins
        patterns: dict[Pattern, list[MiningRule]] = defaultdict(list)
        for rule in rules.rules:
            patterns[rule.pattern].append(rule)
        self._by_word = _indexed(patterns)
        self._remembered: dict[tuple[str, ...], tuple[MiningRule, ...]] = {}

    def constraints(self, words: Sequence[str]) -> tuple[MiningRule, ...]:
        """Return, for each field that the sentence constrains, the rule that says so."""
        known = tuple(words)
        found = self._remembered.get(known)
        if found is None:
            found = self._decided(known)
            if len(self._remembered) < _MAX_REMEMBERED:
                self._remembered[known] = found
        return found

    def _decided(self, words: tuple[str, ...]) -> tuple[MiningRule, ...]:
        stating: dict[str, MiningRule] = {}
        excepting: dict[str, MiningRule] = {}
        for rule in self._matching(words):
            best = excepting if rule.is_exception else stating
            if rule.field not in best or self._order(rule) > self._order(best[rule.field]):
                best[rule.field] = rule
        return tuple(
            rule
            for name, rule in sorted(stating.items())
            if name not in excepting or self._stands(rule, excepting[name])
        )

    def _matching(self, words: tuple[str, ...]) -> list[MiningRule]:
        return [
            rule
            for word in set(words)
            for pattern, rules in self._by_word.get(word, ())
            if self._structure.matches(pattern, words)
            for rule in rules
        ]

    def _stands(self, rule: MiningRule, exception: MiningRule) -> bool:
        margin = self._margins.get(rule.field, 0.0)
        strength, support = self._thresholds.rank(rule)
        doubt, against = self._thresholds.rank(exception)
        if not margin:
            return (strength, support) >= (doubt, against)
        return strength >= (1.0 - margin) * doubt

    def _order(self, rule: MiningRule) -> tuple[tuple[float, float], int, MiningRule]:
        return self._thresholds.rank(rule), -len(rule.pattern), rule


def _indexed(
    patterns: Mapping[Pattern, list[MiningRule]],
) -> dict[str, list[tuple[Pattern, list[MiningRule]]]]:
    """File each pattern under its rarest word, so that a sentence is held against few."""
    common = Counter(word for pattern in patterns for word in pattern)
    index: dict[str, list[tuple[Pattern, list[MiningRule]]]] = defaultdict(list)
    for pattern, rules in patterns.items():
        words = [word for word in pattern if word not in {START, END}]
        index[min(words, key=lambda word: (common[word], word))].append((pattern, rules))
    return index


def with_margins(rules: RuleSet, margins: Mapping[str, float]) -> RuleSet:
    """Return the same rules with other margins."""
    return replace(rules, thresholds=replace(rules.thresholds, margins=dict(margins)))
