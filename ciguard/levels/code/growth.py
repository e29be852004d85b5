"""Growth: a program that is run over and over in one process takes ever more memory, or time.

What libraries set up once is no defect, and neither is a cache that fills: the first third of the
cycles warms up, and what follows has to grow in either half, and by much.
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
_WARM_UP = 3
"""One in so many cycles."""
MIN_JUDGED = 8
"""Cycles behind the warm-up: with fewer, chance bends the line."""
MIN_BYTES = 256.0 * 1024
"""Per cycle; a program that is judged trains some hundred kilobytes of weights."""
MIN_SECONDS = 0.002
"""Per cycle."""
MIN_SHARE = 0.03
"""By which every cycle is slower than the one before, of the time of the first that are judged."""
MIN_RATIO = 1.5
"""Of the last third of the cycles to the first that is judged."""


@dataclass(frozen=True, slots=True)
class CycleGrowth:
    """By how much something grows with every cycle, at the least that any reckoning gives."""

    per_cycle: float
    first: float
    last: float
    cycles: int
    """That were judged."""


def growth_of(values: Sequence[float]) -> CycleGrowth | None:
    """Return how values grow behind the warm-up; None where they do not, or are too few.

    The slope is the least of those over all and in either half: the median of the differences
    between neighbours, and from end to end.
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
    """Return the median of the differences between neighbours, and the slope from end to end."""
    steps = [after - before for before, after in pairwise(values)]
    return median(steps), (values[-1] - values[0]) / len(steps)


class GrowthOracle:
    """Judges one case on each target by itself: no reference is needed."""

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
        """Return a finding for memory, and one for time, with every target that shows it."""
        if not isinstance(case, ProgramCase) or case.cycles == 1:
            return []
        runs = {name: run for name, out in outcomes.items() if (run := program_run(out))}
        findings = []
        for kind, grows in (("memory-grows", _of_memory), ("slows-down", _of_time)):
            found = {name: grown for name, run in runs.items() if (grown := grows(run))}
            if not found:
                continue
            worst = max(found, key=lambda name: found[name].per_cycle)
            findings.append(
                Finding(
                    oracle=GROWTH,
                    kind=kind,
                    severity=Severity.MEDIUM,
                    library=subject.library,
                    api=subject.api,
                    case=case,
                    outcomes=outcomes,
                    targets=tuple(found),
                    message=f"{_program(case)} {_CLAIMS[kind](found[worst])} when it is built and "
                    f"trained over and over in one process",
                    evidence=_evidence(kind, found[worst]),
                )
            )
        return findings


def _program(case: ProgramCase) -> str:
    return f"A program derived from {case.ancestry.seed}" if case.ancestry.path else "A program"


def _of_memory(run: ProgramRun) -> CycleGrowth | None:
    found = growth_of(run.memory)
    return found if found and found.per_cycle >= MIN_BYTES else None


def _of_time(run: ProgramRun) -> CycleGrowth | None:
    found = growth_of(run.cpu_s)
    if found is None or found.last < MIN_RATIO * found.first:
        return None
    return found if found.per_cycle >= max(MIN_SECONDS, MIN_SHARE * found.first) else None


def _memory_claim(grown: CycleGrowth) -> str:
    return f"leaves {grown.per_cycle / 2**20:.2g} MiB behind with every run"


def _time_claim(grown: CycleGrowth) -> str:
    return f"takes {grown.last / grown.first:.2g} times as long after {grown.cycles} more runs"


_CLAIMS: Mapping[str, Callable[[CycleGrowth], str]] = {
    "memory-grows": _memory_claim,
    "slows-down": _time_claim,
}


def _evidence(kind: str, grown: CycleGrowth) -> Evidence:
    if kind == "memory-grows":
        what, first, last = (
            "memory",
            f"{grown.first / 2**20:.4g} MiB",
            f"{grown.last / 2**20:.4g} MiB",
        )
    else:
        what, first, last = "time", f"{grown.first:.3g} s", f"{grown.last:.3g} s"
    return Evidence(
        expected=f"{what} that levels off",
        observed=f"{first} in the first third of {grown.cycles} cycles behind the warm-up, {last} "
        "in the last",
        law="What a program built is gone when nothing refers to it any more",
        source="median of the differences between neighbouring cycles, over all and in either half",
    )
