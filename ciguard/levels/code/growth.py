"""Growth oracle: a program run repeatedly in one process takes ever more memory or time.

One-time initialisation is not a defect, and neither is a cache that fills up. So the first third of
the cycles is a warm-up. The rest must grow in each half, and by much.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.programs import ProgramCase
from ciguard.levels.code.program_runs import program_run
from ciguard.oracles import Traits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.levels.code.program_runs import ProgramRun
    from ciguard.oracles import Subject

GROWTH = "growth"
"""Name of the oracle."""
_WARM_UP = 3
"""The warm-up is one part in so many of the cycles."""
MIN_JUDGED = 8
"""Minimum number of cycles after the warm-up; with fewer, chance bends the line."""
MIN_BYTES = 256.0 * 1024
"""Minimum growth of memory, in bytes per cycle; programs train some hundred kilobytes of
weights."""
MIN_SECONDS = 0.002
"""Minimum growth of time, in seconds per cycle."""
MIN_SHARE = 0.03
"""Minimum growth of time per cycle, relative to the first judged cycles."""
MIN_RATIO = 1.5
"""Minimum ratio of the last third of the cycles to the first third."""


@dataclass(frozen=True, slots=True)
class CycleGrowth:
    """Growth per cycle, by the lowest estimate."""

    per_cycle: float
    """Growth, in bytes or seconds per cycle."""
    first: float
    """Median of the first third of the judged cycles, in bytes or seconds."""
    last: float
    """Median of the last third of the judged cycles, in bytes or seconds."""
    cycles: int
    """Number of judged cycles."""


def growth_of(values: Sequence[float]) -> CycleGrowth | None:
    """Return the growth of values after the warm-up; None if they do not grow or are too few.

    The slope is the lowest of six estimates: over all cycles and over each half, the median of the
    differences of neighbours and the slope from end to end.
    """
    judged = values[len(values) // _WARM_UP :]
    if len(judged) < MIN_JUDGED:
        return None
    half = len(judged) // 2
    slopes = [
        slope for part in (judged, judged[: half + 1], judged[half:]) for slope in _slopes(part)
    ]
    third = len(judged) // _WARM_UP
    first, last = median(judged[:third]), median(judged[-third:])
    return CycleGrowth(min(slopes), first, last, len(judged)) if min(slopes) > 0 else None


def _slopes(values: Sequence[float]) -> tuple[float, float]:
    """Return the median of the differences of neighbours, and the slope from end to end."""
    steps = [after - before for before, after in pairwise(values)]
    return median(steps), (values[-1] - values[0]) / len(steps)


class GrowthOracle:
    """Judges one case on each target alone, without a reference."""

    traits: ClassVar[Traits] = Traits(
        is_judged_alone=True,
        claims={
            "memory-grows": "memory grows with every run of a program in one process.",
            "slows-down": "a program becomes slower with every run in one process.",
        },
        mark="GROWS",
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return a finding for memory and one for time, each with all targets that show it."""
        if not isinstance(case, ProgramCase) or case.cycles == 1:
            return []
        runs = {name: run for name, out in outcomes.items() if (run := program_run(out))}
        findings = []
        for kind, grows in (("memory-grows", _memory_growth), ("slows-down", _time_growth)):
            growths = {name: growth for name, run in runs.items() if (growth := grows(run))}
            if not growths:
                continue
            worst = max(growths, key=lambda name: growths[name].per_cycle)
            findings.append(
                Finding(
                    oracle=GROWTH,
                    kind=kind,
                    severity=Severity.MEDIUM,
                    library=subject.library,
                    api=subject.api,
                    case=case,
                    outcomes=outcomes,
                    targets=tuple(growths),
                    message=f"{_program(case)} {_CLAIMS[kind](growths[worst])} when it is "
                    f"built and trained repeatedly in one process",
                    evidence=_evidence(kind, growths[worst]),
                )
            )
        return findings


def _program(case: ProgramCase) -> str:
    return f"A program derived from {case.ancestry.seed}" if case.ancestry.path else "A program"


def _memory_growth(run: ProgramRun) -> CycleGrowth | None:
    growth = growth_of(run.memory)
    return growth if growth and growth.per_cycle >= MIN_BYTES else None


def _time_growth(run: ProgramRun) -> CycleGrowth | None:
    growth = growth_of(run.cpu_s)
    if growth is None or growth.last < MIN_RATIO * growth.first:
        return None
    return growth if growth.per_cycle >= max(MIN_SECONDS, MIN_SHARE * growth.first) else None


def _memory_claim(growth: CycleGrowth) -> str:
    return f"leaks {growth.per_cycle / 2**20:.2g} MiB with every run"


def _time_claim(growth: CycleGrowth) -> str:
    return f"takes {growth.last / growth.first:.2g} times as long after {growth.cycles} more runs"


_CLAIMS: Mapping[str, Callable[[CycleGrowth], str]] = {
    "memory-grows": _memory_claim,
    "slows-down": _time_claim,
}


def _evidence(kind: str, growth: CycleGrowth) -> Evidence:
    if kind == "memory-grows":
        quantity, first, last = (
            "memory",
            f"{growth.first / 2**20:.4g} MiB",
            f"{growth.last / 2**20:.4g} MiB",
        )
    else:
        quantity, first, last = "time", f"{growth.first:.3g} s", f"{growth.last:.3g} s"
    return Evidence(
        expected=f"{quantity} that levels off",
        observed=f"{first} in the first third of {growth.cycles} cycles after warm-up, {last} "
        "in the last",
        law="A program's objects are freed when nothing refers to them any more",
        source="median difference of neighbouring cycles, overall and in each half",
    )
