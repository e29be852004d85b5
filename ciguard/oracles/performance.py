"""The oracle `performance`: a target takes more time or memory for a call than the reference.

It judges measurements instead of ordinary outcomes. A campaign measures only a few calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
from ciguard.domain.outcomes import Passed
from ciguard.execution import Measurement, Quantity, decode_measured
from ciguard.oracles.contract import Traits, traits_of
from ciguard.oracles.differential import pair_kind
from ciguard.oracles.hang import SLOW
from ciguard.oracles.instructions import (
    MIN_CHANGE,
    MORE_INSTRUCTIONS,
    CountChange,
    count_in_words,
)
from ciguard.oracles.signed_rank import signed_rank_p
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Identity, Subject

ALPHA = 0.001
"""Significance level of all tests of a run together. It is divided equally between the tests."""
MIN_ROUNDS = 12
"""Minimum number of paired rounds for a finding."""
MIN_CHECKPOINTS = 8
"""Minimum number of memory checkpoints for a leak."""
MIN_RATIO = 1.5
"""Minimum ratio of the medians for a finding."""
MIN_TIME_NS = 10_000.0
"""Minimum difference of the median times for a finding, in nanoseconds."""
MIN_PEAK = 1024.0 * 1024.0
"""Minimum difference of the median peaks of memory for a finding, in bytes."""
MIN_GROWTH = 1024.0
"""Minimum growth of memory for a leak, in bytes per call."""
_MIN_FIT = 0.95
"""Minimum coefficient of determination of a leak's line. Growth that levels off is a cache."""
_LEAK_RATIO = 2.0
"""Minimum ratio of a leak's lowest slope to the reference's highest slope."""
_SPARE_ROUNDS = 4
"""Number of rounds in addition to those that suffice if all rounds agree."""

_COMPARABLE = frozenset({PairKind.SAME, PairKind.VERSION, PairKind.ENVIRONMENT})
"""Kinds of pairs whose targets should be equally fast. Devices, modes and backends need not be."""
_MIN_EXCESS = {Quantity.TIME: MIN_TIME_NS, Quantity.PEAK: MIN_PEAK}
"""Minimum difference of the medians for a finding, by quantity."""
KINDS = {
    Quantity.TIME: "slower",
    Quantity.PEAK: "more memory",
    Quantity.GROWTH: "leak",
    Quantity.INSTRUCTIONS: MORE_INSTRUCTIONS,
}
"""Kinds of findings, by the measured quantity."""


def is_measured(finding: Finding) -> bool:
    """Return whether a finding is about the time or memory of a call.

    Such a case cannot be minimised, because a simpler call takes less.
    """
    return traits_of(finding.oracle).is_measured or finding.kind == SLOW


def is_comparable(reference: Identity, other: Identity) -> bool:
    """Return whether two targets should take the same time and memory for a call."""
    is_eager = reference.mode == other.mode == EAGER  # modes are not measured
    return is_eager and pair_kind(reference, other) in _COMPARABLE


def rounds_for(tests: int) -> int:
    """Return the number of paired rounds per test with which `tests` tests can be significant."""
    return max(MIN_ROUNDS, math.ceil(math.log2(tests / ALPHA)) + _SPARE_ROUNDS)


@dataclass(frozen=True, slots=True)
class Excess:
    """A significant difference in time or memory between a target and the reference."""

    reference: float
    """Median on the reference, in nanoseconds or bytes."""
    other: float
    """Median on the other target, in nanoseconds or bytes."""
    p: float
    """P-value of the signed-rank test."""
    rounds: int
    """Number of paired rounds."""

    @property
    def ratio(self) -> float:
        """Ratio of the medians, other to reference; infinite if the reference is 0."""
        return self.other / self.reference if self.reference else math.inf


def excess(reference: Measurement, other: Measurement) -> Excess | None:
    """Return by how much `other` exceeds `reference` in paired rounds; None unless it is a defect.

    The excess must be significant by Wilcoxon's one-sided signed-rank test over the rounds, at the
    level of `ALPHA` divided by the number of tests. Ratio and difference of the medians must be
    large. The ratio must be large in each half of the rounds too, because the machine's load may
    change. The excess must also exceed the spread of the reference.
    """
    rounds = min(len(reference.values), len(other.values))
    min_excess = _MIN_EXCESS.get(other.quantity)
    if min_excess is None or rounds < MIN_ROUNDS:
        return None
    reference_values, other_values = reference.values[:rounds], other.values[:rounds]
    reference_median, other_median = median(reference_values), median(other_values)
    if other_median - reference_median < min_excess or not _exceeds_spread(
        other_median, reference_values
    ):
        return None
    half = rounds // 2
    halves = (
        (reference_values, other_values),
        (reference_values[:half], other_values[:half]),
        (reference_values[half:], other_values[half:]),
    )
    if any(median(b) < MIN_RATIO * median(a) for a, b in halves):
        return None
    p = signed_rank_p([b - a for a, b in zip(reference_values, other_values, strict=True)])
    if p >= ALPHA / max(reference.tests, other.tests):
        return None
    return Excess(reference_median, other_median, p, rounds)


def _exceeds_spread(other_median: float, reference: Sequence[float]) -> bool:
    """Return whether a target's median exceeds the reference's by more than the reference's spread.

    The spread is the ratio of the upper quartile to the lower quartile.
    """
    low, middle, high = np.quantile(reference, (0.25, 0.5, 0.75))
    return (
        bool(other_median * low > high * middle) if low else bool(other_median > MIN_RATIO * high)
    )


@dataclass(frozen=True, slots=True)
class MemoryGrowth:
    """A straight line fitted to the memory of a process over the number of calls."""

    per_call: float
    """Slope, in bytes per call."""
    fit: float
    """Coefficient of determination, 0 to 1."""


def growth(measured: Measurement) -> MemoryGrowth:
    """Return the least-squares line through the measured checkpoints."""
    return _line(measured.values, measured.calls)


def steady_growth(measured: Measurement) -> float:
    """Return the median growth between checkpoints, in bytes per call. It ignores single steps."""
    steps = np.diff(np.array(measured.values)) / measured.calls
    return float(np.median(steps)) if len(steps) else 0.0


def _line(values: Sequence[float], per_checkpoint: int) -> MemoryGrowth:
    """Return the least-squares line through memory sizes.

    Args:
        values: memory at each checkpoint, in bytes.
        per_checkpoint: number of calls between two checkpoints.
    """
    sizes = np.array(values)
    calls = np.arange(len(sizes)) * float(per_checkpoint)
    calls -= calls.mean()
    sizes -= sizes.mean()
    calls_variance, sizes_variance = float(calls @ calls), float(sizes @ sizes)
    if not calls_variance or not sizes_variance:
        return MemoryGrowth(0.0, 0.0)
    covariance = float(calls @ sizes)
    return MemoryGrowth(
        covariance / calls_variance, covariance * covariance / (calls_variance * sizes_variance)
    )


def is_leak(measured: Measurement) -> bool:
    """Return whether memory grows fast and steadily until the last call.

    While a library warms up, its memory also grows, for hundreds of calls, but ever more slowly.
    """
    if len(measured.values) < MIN_CHECKPOINTS or growth(measured).fit <= _MIN_FIT:
        return False
    return min(_slopes(measured)) > MIN_GROWTH


def leaks_more(reference: Measurement, other: Measurement) -> bool:
    """Return whether `other` leaks more than twice as fast as `reference`, by all estimates.

    To test only whether `is_leak` is false for the reference is not enough: if both leak, noise may
    bend one of the lines.
    """
    return is_leak(other) and min(_slopes(other)) > _LEAK_RATIO * max(_slopes(reference))


def _slopes(measured: Measurement) -> tuple[float, ...]:
    """Return four estimates of the growth in bytes per call.

    They are the slopes over all checkpoints and over each half, and the median growth between
    checkpoints.
    """
    values, half = measured.values, len(measured.values) // 2
    parts = (values, values[: half + 1], values[half:])
    return (*(_line(part, measured.calls).per_call for part in parts), steady_growth(measured))


class PerformanceOracle:
    """Reports targets that take much more time or memory for a call than the first target."""

    NAME: ClassVar[str] = "performance"
    """Name of the oracle, whose findings are confirmed by measuring again."""
    traits: ClassVar[Traits] = Traits(
        is_measured=True,
        needs_conforming=True,
        claim="one target is worse than another ({kind}).",
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per target that takes significantly more than the reference.

        Args:
            case: the case that was measured.
            outcomes: the measurements by target, see `Measurement`.
            subject: the API under test, and the targets in order, the reference first.
        """
        measured = _measurements(outcomes, subject)
        if not measured:
            return []
        reference, *other_names = measured
        return [
            Finding(
                oracle=self.NAME,
                kind=KINDS[measured[name].quantity],
                severity=Severity.LOW,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes={reference: outcomes[reference], name: outcomes[name]},
                targets=(reference, name),
                pair=pair_kind(subject.targets[reference], subject.targets[name]),
                message=f"{subject.api} {text}",
                evidence=_evidence(measured, reference, name),
            )
            for name in other_names
            if is_comparable(subject.targets[reference], subject.targets[name])
            and (text := _claim(measured[reference], measured[name]))
        ]


def _measurements(outcomes: Mapping[str, Outcome], subject: Subject) -> dict[str, Measurement]:
    """Return the measurements by target, the reference first; empty for ordinary outcomes."""
    measured: dict[str, Measurement] = {}
    for name in subject.targets:
        outcome = outcomes.get(name)
        if outcome is None:
            continue
        measurement = decode_measured(outcome.encoded) if isinstance(outcome, Passed) else None
        if measurement is None:
            return {}
        measured[name] = measurement
    has_one_quantity = len({measurement.quantity for measurement in measured.values()}) == 1
    return measured if has_one_quantity else {}


def _claim(reference: Measurement, other: Measurement) -> str:
    """Return a phrase for what a target does worse than the reference; empty if it does not."""
    if other.quantity is Quantity.GROWTH:
        if not leaks_more(reference, other):
            return ""
        return f"leaks {growth(other).per_call / 1024:.1f} KiB with every call"
    if other.quantity is Quantity.INSTRUCTIONS:
        return _count_claim(reference, other)
    cost_excess = excess(reference, other)
    if cost_excess is None:
        return ""
    verb = "takes" if other.quantity is Quantity.TIME else "needs"
    amounts = f"{measurement_in_words(other)} instead of {measurement_in_words(reference)}"
    proof = f"{cost_excess.rounds} paired rounds, signed-rank test: p = {cost_excess.p:.0e}"
    if not cost_excess.reference:
        return f"{verb} {amounts} ({proof})"
    comparison = "as long" if other.quantity is Quantity.TIME else "as much memory"
    return f"{verb} {cost_excess.ratio:.1f} times {comparison}: {amounts} ({proof})"


def _count_claim(reference: Measurement, other: Measurement) -> str:
    change = CountChange.between(reference, other)
    if not change.is_slower:
        return ""
    amounts = f"{count_in_words(change.other)} instead of {count_in_words(change.reference)}"
    return f"executes {change.ratio - 1:.1%} more: {amounts} (spread {change.spread:.2%})"


def _evidence(measured: Mapping[str, Measurement], reference: str, other: str) -> Evidence:
    """Return the medians or the growth on both targets, and the invariant that is violated."""
    quantity = measured[other].quantity
    if quantity is Quantity.GROWTH:
        law = "The memory of a process does not grow with every call"
        source = "a straight line through the memory at all checkpoints, twice, in fresh workers"
    elif quantity is Quantity.INSTRUCTIONS:
        law = f"The same call does not execute {MIN_CHANGE - 1:.1%} more than on {reference}"
        change = CountChange.between(measured[reference], measured[other])
        count = len(measured[other].values)
        source = f"callgrind, {count} counts in processes of their own, spread {change.spread:.2%}"
    else:
        verb = "take" if quantity is Quantity.TIME else "need"
        law = f"The same call does not {verb} {MIN_RATIO:g} times as much as on {reference}"
        source = "Wilcoxon's signed-rank test over paired rounds, twice, in fresh workers"
    return Evidence(
        expected=f"{reference}: {measurement_in_words(measured[reference])}",
        observed=f"{other}: {measurement_in_words(measured[other])}",
        law=law,
        source=source,
    )


def measurement_in_words(measured: Measurement) -> str:
    """Return a measurement as text with its unit."""
    if measured.quantity is Quantity.TIME:
        return f"{median(measured.values) / 1000:,.1f} µs"
    if measured.quantity is Quantity.PEAK:
        return f"{median(measured.values) / 2**20:,.1f} MiB"
    if measured.quantity is Quantity.INSTRUCTIONS:
        return count_in_words(median(measured.values))
    return f"{growth(measured).per_call / 1024:.1f} KiB more per call"


ORACLE = PerformanceOracle()
