"""Performance: one target takes more time or memory for the same call than the reference.

What is judged is no ordinary outcome but a measurement, which the campaign makes of few calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
from ciguard.domain.outcomes import Passed
from ciguard.execution import Measured, Quantity, decode_measured
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
"""Name of the oracle: its findings are confirmed by measuring again, not by running the case."""

ALPHA = 0.001
"""Level of all tests of a run together: each is made at this level divided by their number."""
MIN_ROUNDS = 12
MIN_CHECKPOINTS = 8
MIN_RATIO = 1.5
MIN_TIME_NS = 10_000.0
MIN_PEAK = 1024.0 * 1024.0
MIN_GROWTH = 1024.0
"""Bytes per call that a leak must lose."""
_MIN_FIT = 0.95
"""Coefficient of determination of the growth: what levels off is a cache."""
_LEAK_RATIO = 2.0
_SPARE_ROUNDS = 4
"""So many more than are needed if all agree: a few may disagree."""

_COMPARABLE = frozenset({PairKind.SAME, PairKind.VERSION, PairKind.ENVIRONMENT})
"""Devices, modes and backends differ in speed by design."""
_MIN_EXCESS = {Quantity.TIME: MIN_TIME_NS, Quantity.PEAK: MIN_PEAK}
KINDS = {Quantity.TIME: "slower", Quantity.PEAK: "more memory", Quantity.GROWTH: "leak"}


def is_measured(finding: Finding) -> bool:
    """Return whether a finding says how much a call takes: a simpler call takes less."""
    return traits_of(finding.oracle).is_measured or finding.kind == SLOW


def is_comparable(reference: Identity, other: Identity) -> bool:
    """Return whether a target that takes more time or memory than another has a defect."""
    is_eager = reference.mode == other.mode == EAGER  # nothing is measured in a mode
    return is_eager and pair_kind(reference, other) in _COMPARABLE


def rounds_for(tests: int) -> int:
    """Return how many paired rounds can decide each of so many tests."""
    return max(MIN_ROUNDS, math.ceil(math.log2(tests / ALPHA)) + _SPARE_ROUNDS)


@dataclass(frozen=True, slots=True)
class Excess:
    """By how much a target takes more than the reference."""

    reference: float
    """Median."""
    other: float
    """Median."""
    p: float
    rounds: int

    @property
    def ratio(self) -> float:
        """Other to reference; infinite where the reference takes nothing."""
        return self.other / self.reference if self.reference else math.inf


def excess(reference: Measured, other: Measured) -> Excess | None:
    """Return by how much paired rounds differ; None unless that is both proved and large.

    Proved: Wilcoxon's signed-rank test, one-sided, over the rounds, at `ALPHA` divided by the
    number of tests. Large: by ratio and by difference of the medians, by ratio in each half of the
    rounds too, since the load of the machine may change, and by more than the reference differs
    from itself.
    """
    rounds = min(len(reference.values), len(other.values))
    least = _MIN_EXCESS.get(other.quantity)
    if least is None or rounds < MIN_ROUNDS:
        return None
    mine, theirs = reference.values[:rounds], other.values[:rounds]
    middle, deviating = median(mine), median(theirs)
    if deviating - middle < least or not _exceeds_spread(deviating, mine):
        return None
    half = rounds // 2
    halves = ((mine, theirs), (mine[:half], theirs[:half]), (mine[half:], theirs[half:]))
    if any(median(b) < MIN_RATIO * median(a) for a, b in halves):
        return None
    p = signed_rank_p([b - a for a, b in zip(mine, theirs, strict=True)])
    if p >= ALPHA / max(reference.tests, other.tests):
        return None
    return Excess(middle, deviating, p, rounds)


def _exceeds_spread(deviating: float, reference: Sequence[float]) -> bool:
    """Return whether a target differs from the reference by more than that from itself.

    The reference's upper quartile divided by its lower one is what it differs from itself.
    """
    low, middle, high = np.quantile(reference, (0.25, 0.5, 0.75))
    return bool(deviating * low > high * middle) if low else bool(deviating > MIN_RATIO * high)


@dataclass(frozen=True, slots=True)
class MemoryGrowth:
    """A straight line through the memory of a process."""

    per_call: float
    """Bytes."""
    fit: float
    """Coefficient of determination, 0 to 1."""


def growth(measured: Measured) -> MemoryGrowth:
    """Return the line of least squares through the checkpoints."""
    return _line(measured.values, measured.calls)


def steady_growth(measured: Measured) -> float:
    """Return the bytes per call by which memory mostly grows: single steps are no leak."""
    steps = np.diff(np.array(measured.values)) / measured.calls
    return float(np.median(steps)) if len(steps) else 0.0


def _line(values: Sequence[float], per_checkpoint: int) -> MemoryGrowth:
    sizes = np.array(values)
    calls = np.arange(len(sizes)) * float(per_checkpoint)
    calls -= calls.mean()
    sizes -= sizes.mean()
    spread, total = float(calls @ calls), float(sizes @ sizes)
    if not spread or not total:
        return MemoryGrowth(0.0, 0.0)
    along = float(calls @ sizes)
    return MemoryGrowth(along / spread, along * along / (spread * total))


def is_leak(measured: Measured) -> bool:
    """Return whether memory grows by the same with every call, and by much, to the very end.

    A library that warms up grows too, for hundreds of calls, but ever more slowly.
    """
    if len(measured.values) < MIN_CHECKPOINTS or growth(measured).fit <= _MIN_FIT:
        return False
    return min(_slopes(measured)) > MIN_GROWTH


def leaks_more(reference: Measured, other: Measured) -> bool:
    """Return whether the other leaks, and the reference not half as much by any reckoning.

    That the reference is no leak by the rules above is not enough: where both leak, chance may
    bend one of the lines.
    """
    return is_leak(other) and min(_slopes(other)) > _LEAK_RATIO * max(_slopes(reference))


def _slopes(measured: Measured) -> tuple[float, ...]:
    """Return the growth per call as a whole, in either half, and between most checkpoints."""
    values, half = measured.values, len(measured.values) // 2
    parts = (values, values[: half + 1], values[half:])
    return (*(_line(part, measured.calls).per_call for part in parts), steady_growth(measured))


class PerformanceOracle:
    """The first target is the reference; no other may take much more for the same call."""

    traits: ClassVar[Traits] = Traits(
        is_measured=True,
        needs_conforming=True,
        claim="one target is worse than another ({kind}).",
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per target that takes more than the reference; outcomes say nothing.

        Args:
            case: what was measured.
            outcomes: measurements, see `Measured`.
            subject: which target is the reference, and whether others compare with it.
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


def _measurements(outcomes: Mapping[str, Outcome], subject: Subject) -> dict[str, Measured]:
    """Return what was measured by target, the reference first; nothing for ordinary outcomes."""
    measured: dict[str, Measured] = {}
    for name in subject.targets:
        outcome = outcomes.get(name)
        if outcome is None:
            continue
        found = decode_measured(outcome.encoded) if isinstance(outcome, Passed) else None
        if found is None:
            return {}
        measured[name] = found
    same = len({one.quantity for one in measured.values()}) == 1
    return measured if same else {}


def _claim(reference: Measured, other: Measured) -> str:
    """Return what a target does worse than the reference, empty if nothing is proved."""
    if other.quantity is Quantity.GROWTH:
        if not leaks_more(reference, other):
            return ""
        return f"leaks {growth(other).per_call / 1024:.1f} KiB with every call"
    more = excess(reference, other)
    if more is None:
        return ""
    verb = "takes" if other.quantity is Quantity.TIME else "needs"
    amounts = f"{amount(other)} instead of {amount(reference)}"
    proof = f"{more.rounds} paired rounds, signed-rank test: p = {more.p:.0e}"
    if not more.reference:
        return f"{verb} {amounts} ({proof})"
    what = "as long" if other.quantity is Quantity.TIME else "as much memory"
    return f"{verb} {more.ratio:.1f} times {what}: {amounts} ({proof})"


def _evidence(measured: Mapping[str, Measured], reference: str, other: str) -> Evidence:
    quantity = measured[other].quantity
    if quantity is Quantity.GROWTH:
        law = "The memory of a process does not grow with every call"
        source = "a straight line through the memory at all checkpoints, twice, in fresh workers"
    else:
        what = "take" if quantity is Quantity.TIME else "need"
        law = f"The same call does not {what} {MIN_RATIO:g} times as much as on {reference}"
        source = "Wilcoxon's signed-rank test over paired rounds, twice, in fresh workers"
    return Evidence(
        expected=f"{reference}: {amount(measured[reference])}",
        observed=f"{other}: {amount(measured[other])}",
        law=law,
        source=source,
    )


def amount(measured: Measured) -> str:
    """Return a measurement as people read it."""
    if measured.quantity is Quantity.TIME:
        return f"{median(measured.values) / 1000:,.1f} µs"
    if measured.quantity is Quantity.PEAK:
        return f"{median(measured.values) / 2**20:,.1f} MiB"
    return f"{growth(measured).per_call / 1024:.1f} KiB more per call"


ORACLE = PerformanceOracle()
