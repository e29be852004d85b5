"""Observations during a run, which the page shows beside the run's last event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.reports.html.forest import Forest

if TYPE_CHECKING:
    from datetime import datetime

    from ciguard.domain.events import InputsMishandled, RunStarted

_MAX_STEPS = 120
_MAX_WARNINGS = 100
_MAX_MISSED = 40


class CasesOverTime:
    """How many cases each target had run at which time; as coarse as the run is long."""

    def __init__(self) -> None:
        self.step_s = 1.0
        self._counts: dict[str, list[int]] = {}
        """By target: cases in each step."""

    def add(self, target: str, cases: int, elapsed_s: float) -> None:
        """Note cases that ended `elapsed_s` after the run began."""
        while elapsed_s >= self.step_s * _MAX_STEPS:
            self._halve()
        step = int(max(0.0, elapsed_s) // self.step_s)
        counts = self._counts.setdefault(target, [])
        counts.extend([0] * (step + 1 - len(counts)))
        counts[step] += cases

    def _halve(self) -> None:
        self.step_s *= 2
        for counts in self._counts.values():
            counts[:] = [sum(counts[at : at + 2]) for at in range(0, len(counts), 2)]

    def totals(self) -> dict[str, list[tuple[float, float]]]:
        """Return (seconds, cases so far) by target, all up to the same time."""
        steps = max(map(len, self._counts.values()), default=0)
        totals = {}
        for target, counts in self._counts.items():
            so_far = 0
            points = [(0.0, 0.0)]
            for step in range(steps):
                so_far += counts[step] if step < len(counts) else 0
                points.append(((step + 1) * self.step_s, float(so_far)))
            totals[target] = points
        return totals


@dataclass(slots=True, kw_only=True)
class RunObservations:
    """Events of a run that the page shows."""

    started_at: datetime
    started: RunStarted | None = None
    cases: CasesOverTime = field(default_factory=CasesOverTime)
    warnings: list[str] = field(default_factory=list)
    warnings_met: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)
    """Reason by target that never came to be."""
    forest: Forest = field(default_factory=Forest)
    missed: list[InputsMishandled] = field(default_factory=list)
    """Inputs that applications mishandle."""
    documentation: int = 0
    """Findings about the documentation of libraries."""

    def warn(self, message: str) -> None:
        """Keep one of the first warnings, and count the others."""
        self.warnings_met += 1
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(message)

    def miss(self, missed: InputsMishandled) -> None:
        """Keep what one of the first applications does not do right with."""
        if len(self.missed) < _MAX_MISSED:
            self.missed.append(missed)
