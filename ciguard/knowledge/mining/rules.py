"""Rules: a pattern of a sentence's normal form, and what a parameter's constraint then is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.concrete import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.knowledge.mining.structure import Pattern


@dataclass(frozen=True, slots=True, order=True)
class MiningRule:
    """Where the pattern matches, the field has these values: t -> a in the paper."""

    field: str
    """One of `FIELDS`."""
    pattern: Pattern
    values: tuple[str, ...]
    """Abstract values. None at all makes the rule an exception: sentences like this say nothing."""
    support: float
    """Labelled sentences that the pattern matches; one met n times counts as sqrt(n)."""
    hits: float
    """Those among them that have exactly these values."""

    @property
    def confidence(self) -> float:
        """P(a|t): the share of matching sentences that have these values."""
        return self.hits / self.support

    @property
    def is_exception(self) -> bool:
        """Return whether the rule says that there is no constraint."""
        return not self.values

    def __str__(self) -> str:
        """Write the rule as it is quoted where a constraint is explained."""
        values = ", ".join(self.values) or "nothing"
        return (
            f"{' '.join(self.pattern)} -> {self.field} {values} "
            f"(support {self.support:.3g}, confidence {self.confidence:.2f})"
        )


def usual_margins() -> dict[str, float]:
    """Return the margins chosen by cross-validation, see `benchmarks/extraction.py`."""
    return {
        "dtype": 0.02, "structure": 0.05, "ndim": 0.05, "shape": 0.05, "range": 0.1, "enum": 0.1,
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Which patterns become rules, and which rule has the last word."""

    min_support: float = 2.0
    """Labelled sentences that a pattern must match."""
    min_confidence: float = 0.5
    """Of a rule that states a constraint; an exception needs none."""
    caution: float = 0.3
    """Added to the support when rules are ranked, so that two of two do not outrank 99 of 100."""
    breadth: int = 1
    """Rules kept for each labelled sentence: the best so many, and as many exceptions."""
    margins: Mapping[str, float] = field(default_factory=usual_margins)
    """By field: a constraint stands unless an exception outranks it by more than this share."""

    def rank(self, rule: MiningRule) -> tuple[float, float]:
        """Return by what rules are ordered: the confidence, less when there is little support."""
        return rule.hits / (rule.support + self.caution), rule.support


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The rules of one library."""

    library: str
    sentences: int
    """Labelled sentences they were learned from."""
    thresholds: Thresholds
    rules: tuple[MiningRule, ...]

    def __post_init__(self) -> None:
        unknown = {rule.field for rule in self.rules} - set(FIELDS)
        if unknown:
            msg = f"rules for unknown fields: {', '.join(sorted(unknown))}"
            raise ValueError(msg)
