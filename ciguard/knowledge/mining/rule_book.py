"""Applies rules to the normal form of a sentence and returns abstract constraints."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.structure import END, START, GappedSequences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.knowledge.mining.rules import MiningRule, RuleSet
    from ciguard.knowledge.mining.structure import Pattern, PatternStructure

_MAX_STRENGTH = 0.9999
"""Maximum strength of a rule, so that its log-odds are finite."""
_MAX_CACHED_FORMS = 20_000
"""Maximum number of normal forms with cached results. Documentation repeats sentences."""


class RuleBook:
    """A rule set with an index that finds the rules for a sentence."""

    def __init__(
        self,
        rules: RuleSet,
        shared: Iterable[MiningRule] = (),
        *,
        structure: PatternStructure | None = None,
    ) -> None:
        """Index rules.

        Args:
            rules: rules of one library.
            shared: rules that hold for every library.
            structure: the kind of patterns; gapped sequences by default.
        """
        self._structure = structure or GappedSequences()
        self._thresholds = rules.thresholds
        self._margins = rules.thresholds.margins
        patterns: dict[Pattern, list[MiningRule]] = defaultdict(list)
        for rule in {*rules.rules, *shared}:
            patterns[rule.pattern].append(rule)
        self._patterns_by_word = _index_by_rarest_word(patterns)
        self._cache: dict[tuple[str, ...], tuple[MiningRule, ...]] = {}

    def constraints(self, words: Sequence[str]) -> tuple[MiningRule, ...]:
        """Return the rule that decides each field that the sentence constrains.

        Args:
            words: the words and placeholders of the sentence's normal form.
        """
        key = tuple(words)
        rules = self._cache.get(key)
        if rules is None:
            rules = self._deciding_rules(key)
            if len(self._cache) < _MAX_CACHED_FORMS:
                self._cache[key] = rules
        return rules

    def _deciding_rules(self, words: tuple[str, ...]) -> tuple[MiningRule, ...]:
        """Return the best rule of each field; none for a field where an exception outranks it."""
        constraints: dict[str, MiningRule] = {}
        exceptions: dict[str, MiningRule] = {}
        for rule in self._matching_rules(words):
            best = exceptions if rule.is_exception else constraints
            if rule.field not in best or self._sort_key(rule) > self._sort_key(best[rule.field]):
                best[rule.field] = rule
        return tuple(
            rule
            for name, rule in sorted(constraints.items())
            if name not in exceptions or self._outranks(rule, exceptions[name])
        )

    def _matching_rules(self, words: tuple[str, ...]) -> list[MiningRule]:
        return [
            rule
            for word in set(words)
            for pattern, rules in self._patterns_by_word.get(word, ())
            if self._structure.matches(pattern, words)
            for rule in rules
        ]

    def _outranks(self, rule: MiningRule, exception: MiningRule) -> bool:
        """Return whether a rule prevails over an exception, which needs a margin to remove it."""
        margin = self._margins.get(rule.field, 0.0)
        strength, support = self._thresholds.rank(rule)
        exception_strength, exception_support = self._thresholds.rank(exception)
        if not margin:
            return (strength, support) >= (exception_strength, exception_support)
        return _log_odds(strength) >= _log_odds(exception_strength) - margin

    def _sort_key(self, rule: MiningRule) -> tuple[tuple[float, float], int, MiningRule]:
        return self._thresholds.rank(rule), -len(rule.pattern), rule


def _log_odds(strength: float) -> float:
    strength = min(strength, _MAX_STRENGTH)
    return math.log(strength / (1 - strength))


def _index_by_rarest_word(
    patterns: Mapping[Pattern, list[MiningRule]],
) -> dict[str, list[tuple[Pattern, list[MiningRule]]]]:
    """Return the patterns by their rarest word, so that few are compared with a sentence."""
    frequencies = Counter(word for pattern in patterns for word in pattern)
    index: dict[str, list[tuple[Pattern, list[MiningRule]]]] = defaultdict(list)
    for pattern, rules in patterns.items():
        words = [word for word in pattern if word not in {START, END}]
        index[min(words, key=lambda word: (frequencies[word], word))].append((pattern, rules))
    return index


def with_margins(rules: RuleSet, margins: Mapping[str, float]) -> RuleSet:
    """Return the rule set with `margins` in place of its own margins."""
    return replace(rules, thresholds=replace(rules.thresholds, margins=dict(margins)))
