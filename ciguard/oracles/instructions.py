"""Verdicts on instruction counts, which the load of a machine does not change as it changes times.

A count can also contradict a time: the same instructions took longer. Then the time has a cause
outside of the call, or one that no count shows, such as waiting for memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Self

import numpy as np

from ciguard.domain.outcomes import Passed
from ciguard.execution import decode_measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding
    from ciguard.execution import Measurement

MORE_INSTRUCTIONS = "more instructions"
"""Kind of findings that counts alone prove."""
MAX_SPREAD = 0.005
"""Upper bound of the spread of counts that prove anything."""
MIN_CHANGE = 1.05 - MAX_SPREAD
"""Ratio of the counts from which on a call has become slower: by 5 %, within the spread."""
MIN_INSTRUCTIONS = 500.0
"""Minimum difference for a finding, in instructions per call: fewer are an accident of hashes."""
STRONG_RATIO = 3.0
"""Ratio of two times from which on they are reported although the counts are equal."""
_UNIT = " instructions"


@dataclass(frozen=True, slots=True)
class CountChange:
    """Instructions per call on two targets."""

    reference: float
    """Median on the reference."""
    other: float
    """Median on the other target."""
    spread: float
    """Larger spread of the two targets, relative to the median."""

    @classmethod
    def between(cls, reference: Measurement, other: Measurement) -> Self:
        """Return how the counts of two targets differ."""
        spread = max(_spread(reference.values), _spread(other.values))
        return cls(median(reference.values), median(other.values), spread)

    @property
    def ratio(self) -> float:
        """Ratio of the medians, other to reference."""
        return self.other / self.reference if self.reference > 0 else 1.0

    @property
    def is_steady(self) -> bool:
        """True if the counts vary so little that they prove something."""
        return self.spread < MAX_SPREAD

    @property
    def is_slower(self) -> bool:
        """True if the counts prove that the call has become slower."""
        return (
            self.is_steady
            and self.ratio >= MIN_CHANGE
            and self.other - self.reference >= MIN_INSTRUCTIONS
        )

    def refutes(self, finding: Finding) -> bool:
        """Return whether steady and equal counts refute that a call takes longer.

        Waiting for memory, or vector units that Valgrind lacks, can make equal instructions slower.
        So a call that takes `STRONG_RATIO` times as long is not refuted.
        """
        reference, other = (_median_of(finding, name) for name in finding.targets)
        is_equal = self.is_steady and self.ratio < MIN_CHANGE
        return is_equal and other < STRONG_RATIO * reference

    def added_to(self, finding: Finding) -> Finding:
        """Return a finding about time whose evidence also states steady counts."""
        evidence = finding.evidence
        if not self.is_steady or has_counts(finding):
            return finding
        verb = "agree" if self.ratio >= MIN_CHANGE else "do not change"
        counted = replace(
            evidence,
            expected=f"{evidence.expected}, {count_in_words(self.reference)}",
            observed=f"{evidence.observed}, {count_in_words(self.other)}",
            source=f"{evidence.source}; counts of callgrind {verb} (spread {self.spread:.2%})",
        )
        return replace(finding, evidence=counted)


def _spread(values: Sequence[float]) -> float:
    """Return the interquartile range relative to the median; one process may be an outlier."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float((high - low) / middle) if middle > 0 else float("inf")


def _median_of(finding: Finding, target: str) -> float:
    outcome = finding.outcomes.get(target)
    measured = decode_measured(outcome.encoded) if isinstance(outcome, Passed) else None
    return median(measured.values) if measured is not None else 0.0


def has_counts(finding: Finding) -> bool:
    """Return whether a finding is also or only about instructions, which its script can count."""
    is_stated = finding.evidence.observed.endswith(_UNIT)
    return is_stated or finding.kind == MORE_INSTRUCTIONS


def count_in_words(count: float) -> str:
    """Return a number of instructions as text."""
    return f"{count:,.0f}{_UNIT}"
