"""Rules: a pattern for the normal form of sentences, and the constraint that they state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.concrete import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.knowledge.mining.structure import Pattern


@dataclass(frozen=True, slots=True, order=True)
class MiningRule:
    """Rule that a field has certain values in sentences that match a pattern: t -> a in DocTer."""

    field: str
    """Field of the constraint, one of `FIELDS`."""
    pattern: Pattern
    """Pattern that a sentence must match."""
    values: tuple[str, ...]
    """Abstract values; empty for an exception: sentences that match do not constrain the field."""
    support: float
    """Number of labelled sentences that match; n equal sentences count as sqrt(n)."""
    hits: float
    """Number of matching sentences with exactly `values`, counted like `support`."""

    @property
    def confidence(self) -> float:
        """Share of the matching sentences that have exactly `values`: P(a|t) in DocTer."""
        return self.hits / self.support

    @property
    def is_exception(self) -> bool:
        """True if the rule states that there is no constraint."""
        return not self.values

    def __str__(self) -> str:
        """Return the text of the rule for explanations of constraints."""
        values = ", ".join(self.values) or "nothing"
        return (
            f"{' '.join(self.pattern)} -> {self.field} {values} "
            f"(support {self.support:.3g}, confidence {self.confidence:.2f})"
        )


def default_margins() -> dict[str, float]:
    """Return the margins by field, as chosen by cross-validation in `benchmarks/extraction.py`.

    Few sentences state a range or a choice, so that nearly every word is an exception to these
    fields with a confidence above 0.9. Hence their margins are wide.
    """
    return {
        "dtype": -0.75, "structure": 1.75, "ndim": 0.5, "shape": 1.5, "range": 2.0, "enum": 3.5,
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Limits that decide which patterns become rules, and which rule wins."""

    min_support: float = 2.0
    """Minimum number of labelled sentences that a pattern must match."""
    min_confidence: float = 0.5
    """Minimum confidence of a rule that states a constraint; exceptions need no confidence."""
    caution: float = 0.3
    """Number added to the support for ranking, so that 2 of 2 hits do not outrank 99 of 100."""
    breadth: int = 1
    """Number of rules, and of exceptions, that are kept per labelled sentence and field."""
    margins: Mapping[str, float] = field(default_factory=default_margins)
    """Log-odds by which an exception must outrank a rule to remove its constraint, by field."""

    def rank(self, rule: MiningRule) -> tuple[float, float]:
        """Return a sort key: the confidence, reduced if the support is low, then the support."""
        return rule.hits / (rule.support + self.caution), rule.support


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """Rules of one library."""

    library: str
    """Name of the library."""
    sentences: int
    """Number of labelled sentences from which the rules were learned."""
    thresholds: Thresholds
    """Limits with which the rules were learned."""
    rules: tuple[MiningRule, ...]
    """Rules in any order."""

    def __post_init__(self) -> None:
        unknown = {rule.field for rule in self.rules} - set(FIELDS)
        if unknown:
            msg = f"rules for unknown fields: {', '.join(sorted(unknown))}"
            raise ValueError(msg)
