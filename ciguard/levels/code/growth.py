"""Growth oracle: a program that runs repeatedly in one process needs ever more memory or time.

One-time initialisation is not a defect, nor is a cache that fills up. So the first third of the
cycles is a warm-up. The other cycles must grow in each half, and by more than a minimum.
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
_WARM_UP_DIVISOR = 3
"""Divisor of the number of cycles: the first third is the warm-up."""
_THIRDS = 3
"""Number of parts of the cycles after the warm-up; the first and the last part are compared."""
MIN_JUDGED = 8
"""Minimum number of cycles after the warm-up; fewer cycles can seem to grow by chance."""
MIN_BYTES = 256.0 * 1024
"""Minimum growth of memory, in bytes per cycle: about the size of a program's weights."""
MIN_SECONDS = 0.002
"""Minimum growth of time, in seconds per cycle."""
MIN_SHARE = 0.03
"""Minimum growth of time per cycle, relative to the time of a cycle just after the warm-up."""
MIN_RATIO = 1.5
"""Minimum ratio of the times in the last third of the judged cycles to those in the first third."""


@dataclass(frozen=True, slots=True)
class CycleGrowth:
    """Growth of memory or time over the judged cycles, which are those after the warm-up."""

    per_cycle: float
    """Lowest estimate of the growth, in bytes or seconds per cycle."""
    first: float
    """Median of the first third of the judged cycles, in bytes or seconds."""
    last: float
    """Median of the last third of the judged cycles, in bytes or seconds."""
    cycles: int
    """Number of judged cycles."""


def growth_of(values: Sequence[float]) -> CycleGrowth | None:
    """Return the growth of values after the warm-up; None if they do not grow or are too few.

    The slope is the lowest of six estimates, two for each of three ranges: all judged cycles, their
    first half and their second half. The two estimates are the median difference between
    neighbouring values, and the slope between the end points.

    Args:
        values: memory in bytes or time in seconds, one value per cycle.
    """
    judged = values[len(values) // _WARM_UP_DIVISOR :]
    if len(judged) < MIN_JUDGED:
        return None
    half = len(judged) // 2
    ranges = (judged, judged[: half + 1], judged[half:])
    slopes = [slope for part in ranges for slope in _slopes(part)]
    third = len(judged) // _THIRDS
    first, last = median(judged[:third]), median(judged[-third:])
    return CycleGrowth(min(slopes), first, last, len(judged)) if min(slopes) > 0 else None


def _slopes(values: Sequence[float]) -> tuple[float, float]:
    """Return the median difference between neighbours, and the slope between the end points."""
    differences = [after - before for before, after in pairwise(values)]
    return median(differences), (values[-1] - values[0]) / len(differences)


class GrowthOracle:
    """Oracle that judges a repeated program on each target alone, without a reference target."""

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
        """Return findings for memory and for time, each with all targets that show growth."""
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
