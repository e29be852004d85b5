"""Performance: one target takes more time or memory for a call than the reference.

It judges no ordinary outcomes but measurements, which the campaign makes of few calls.
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
from ciguard.oracles.signed_rank import signed_rank_p
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Identity, Subject

PERFORMANCE = "performance"
"""Name of the oracle, whose findings are confirmed by measuring again, not by running the case."""

ALPHA = 0.001
"""Significance level of all tests of a run together; each test gets an equal share."""
MIN_ROUNDS = 12
"""Number of paired rounds below which nothing is decided."""
MIN_CHECKPOINTS = 8
"""Number of memory checkpoints below which no leak is reported."""
MIN_RATIO = 1.5
"""Ratio of the medians from which on a difference is large."""
MIN_TIME_NS = 10_000.0
"""Difference of the median times that counts, in nanoseconds."""
MIN_PEAK = 1024.0 * 1024.0
"""Difference of the median peaks of memory that counts, in bytes."""
MIN_GROWTH = 1024.0
"""Bytes per call from which on growth is a leak."""
_MIN_FIT = 0.95
"""Coefficient of determination of the growth; growth that levels off is a cache."""
_LEAK_RATIO = 2.0
"""Ratio by which the slowest growth of a leak must exceed the fastest growth of the reference."""
_SPARE_ROUNDS = 4
"""Number of rounds beyond those needed if all agree, so that a few may disagree."""

_COMPARABLE = frozenset({PairKind.SAME, PairKind.VERSION, PairKind.ENVIRONMENT})
"""Pairs of targets with comparable speed; devices, modes and backends differ by design."""
_MIN_EXCESS = {Quantity.TIME: MIN_TIME_NS, Quantity.PEAK: MIN_PEAK}
KINDS = {Quantity.TIME: "slower", Quantity.PEAK: "more memory", Quantity.GROWTH: "leak"}
"""Kinds of findings, by what is measured."""


def is_measured(finding: Finding) -> bool:
    """Return whether a finding reports a cost of a call, which a simpler call would lower."""
    return traits_of(finding.oracle).is_measured or finding.kind == SLOW


def is_comparable(reference: Identity, other: Identity) -> bool:
    """Return whether a higher cost on one of two targets is a defect."""
    is_eager = reference.mode == other.mode == EAGER  # nothing is measured in a mode
    return is_eager and pair_kind(reference, other) in _COMPARABLE


def rounds_for(tests: int) -> int:
    """Return the number of paired rounds that can decide each of so many tests."""
    return max(MIN_ROUNDS, math.ceil(math.log2(tests / ALPHA)) + _SPARE_ROUNDS)


@dataclass(frozen=True, slots=True)
class Excess:
    """The amount by which a target takes more than the reference."""

    reference: float
    """Median on the reference, in nanoseconds or bytes."""
    other: float
    """Median on the other target, in nanoseconds or bytes."""
    p: float
    """Probability of the signed-rank test."""
    rounds: int
    """Number of paired rounds."""

    @property
    def ratio(self) -> float:
        """Ratio of the medians, other to reference; infinite if the reference is 0."""
        return self.other / self.reference if self.reference else math.inf


def excess(reference: Measurement, other: Measurement) -> Excess | None:
    """Return by how much paired rounds differ; None unless the excess is significant and large.

    Significant: Wilcoxon's signed-rank test, one-sided, over the rounds, at `ALPHA` divided by the
    number of tests. Large: by ratio and difference of the medians. The ratio must be large in each
    half of the rounds too, since the machine's load may change. The excess must also exceed the
    reference's own spread.
    """
    rounds = min(len(reference.values), len(other.values))
    min_excess = _MIN_EXCESS.get(other.quantity)
    if min_excess is None or rounds < MIN_ROUNDS:
        return None
    mine, theirs = reference.values[:rounds], other.values[:rounds]
    reference_median, other_median = median(mine), median(theirs)
    if other_median - reference_median < min_excess or not _exceeds_spread(other_median, mine):
        return None
    half = rounds // 2
    halves = ((mine, theirs), (mine[:half], theirs[:half]), (mine[half:], theirs[half:]))
    if any(median(b) < MIN_RATIO * median(a) for a, b in halves):
        return None
    p = signed_rank_p([b - a for a, b in zip(mine, theirs, strict=True)])
    if p >= ALPHA / max(reference.tests, other.tests):
        return None
    return Excess(reference_median, other_median, p, rounds)


def _exceeds_spread(other_median: float, reference: Sequence[float]) -> bool:
    """Return whether a target differs from the reference by more than the reference's own spread.

    The spread is the ratio of the reference's upper quartile to its lower one.
    """
    low, middle, high = np.quantile(reference, (0.25, 0.5, 0.75))
    return (
        bool(other_median * low > high * middle) if low else bool(other_median > MIN_RATIO * high)
    )


@dataclass(frozen=True, slots=True)
class MemoryGrowth:
    """A straight line through the memory of a process over calls."""

    per_call: float
    """Slope, in bytes per call."""
    fit: float
    """Coefficient of determination, 0 to 1."""


def growth(measured: Measurement) -> MemoryGrowth:
    """Return the least-squares line through the checkpoints."""
    return _line(measured.values, measured.calls)


def steady_growth(measured: Measurement) -> float:
    """Return the median growth, in bytes per call, which ignores single steps."""
    steps = np.diff(np.array(measured.values)) / measured.calls
    return float(np.median(steps)) if len(steps) else 0.0


def _line(values: Sequence[float], per_checkpoint: int) -> MemoryGrowth:
    """Return the least-squares line through memory sizes, in bytes, at equal distances of calls."""
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
    """Return whether memory grows steadily and fast with the calls, until the last one.

    A library that warms up grows too, for hundreds of calls, but ever more slowly.
    """
    if len(measured.values) < MIN_CHECKPOINTS or growth(measured).fit <= _MIN_FIT:
        return False
    return min(_slopes(measured)) > MIN_GROWTH


def leaks_more(reference: Measurement, other: Measurement) -> bool:
    """Return whether the other target leaks at least twice as fast as the reference.

    Every estimate must say so. It is not enough that `is_leak` is false for the reference: where
    both leak, chance may bend one of the lines.
    """
    return is_leak(other) and min(_slopes(other)) > _LEAK_RATIO * max(_slopes(reference))


def _slopes(measured: Measurement) -> tuple[float, ...]:
    """Return the growth per call overall, in each half, and as the median of the checkpoints."""
    values, half = measured.values, len(measured.values) // 2
    parts = (values, values[: half + 1], values[half:])
    return (*(_line(part, measured.calls).per_call for part in parts), steady_growth(measured))


class PerformanceOracle:
    """Compares with the first target; no other may take much more for the same call."""

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
            subject: the API under test; its targets decide what is compared.
        """
        measured = _measurements(outcomes, subject)
        if not measured:
            return []
        reference, *others = measured
        return [
            Finding(
                oracle=PERFORMANCE,
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
            for name in others
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
    """Return what a target does worse than the reference; empty if nothing is proved."""
    if other.quantity is Quantity.GROWTH:
        if not leaks_more(reference, other):
            return ""
        return f"leaks {growth(other).per_call / 1024:.1f} KiB with every call"
    gain = excess(reference, other)
    if gain is None:
        return ""
    verb = "takes" if other.quantity is Quantity.TIME else "needs"
    amounts = f"{measurement_in_words(other)} instead of {measurement_in_words(reference)}"
    proof = f"{gain.rounds} paired rounds, signed-rank test: p = {gain.p:.0e}"
    if not gain.reference:
        return f"{verb} {amounts} ({proof})"
    comparison = "as long" if other.quantity is Quantity.TIME else "as much memory"
    return f"{verb} {gain.ratio:.1f} times {comparison}: {amounts} ({proof})"


def _evidence(measured: Mapping[str, Measurement], reference: str, other: str) -> Evidence:
    """Return the medians or growth on both targets, and the invariant that is broken."""
    quantity = measured[other].quantity
    if quantity is Quantity.GROWTH:
        law = "The memory of a process does not grow with every call"
        source = "a straight line through the memory at all checkpoints, twice, in fresh workers"
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
    return f"{growth(measured).per_call / 1024:.1f} KiB more per call"


ORACLE = PerformanceOracle()
