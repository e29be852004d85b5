"""Data that the reporter collects during a run, for the page at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.reports.html.forest import Forest

if TYPE_CHECKING:
    from datetime import datetime

    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.events import InputsMishandled, RunStarted

_MAX_STEPS = 120
_MAX_WARNINGS = 100
_MAX_MISHANDLED = 40


class CasesOverTime:
    """Number of cases that each target ran over time; the steps grow with the length of the run."""

    def __init__(self) -> None:
        self.step_s = 1.0
        self._counts: dict[str, list[int]] = {}
        """Name of a target → number of cases in each step."""

    def add(self, target: str, cases: int, elapsed_s: float) -> None:
        """Count cases that ended `elapsed_s` seconds after the run began."""
        while elapsed_s >= self.step_s * _MAX_STEPS:
            self._double_step()
        step = int(max(0.0, elapsed_s) // self.step_s)
        counts = self._counts.setdefault(target, [])
        counts.extend([0] * (step + 1 - len(counts)))
        counts[step] += cases

    def _double_step(self) -> None:
        self.step_s *= 2
        for counts in self._counts.values():
            counts[:] = [sum(counts[start : start + 2]) for start in range(0, len(counts), 2)]

    def totals(self) -> dict[str, list[tuple[float, float]]]:
        """Return the points of each target: a time in seconds, and the number of cases until then.

        All targets have the same times.
        """
        steps = max(map(len, self._counts.values()), default=0)
        totals = {}
        for target, counts in self._counts.items():
            total = 0
            points = [(0.0, 0.0)]
            for step in range(steps):
                total += counts[step] if step < len(counts) else 0
                points.append(((step + 1) * self.step_s, float(total)))
            totals[target] = points
        return totals


@dataclass(slots=True, kw_only=True)
class RunObservations:
    """Data from the events of a run that the page shows."""

    started_at: datetime
    started: RunStarted | None = None
    cases: CasesOverTime = field(default_factory=CasesOverTime)
    warnings: list[str] = field(default_factory=list)
    warning_count: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)
    """Name of a target that could not be set up → the reason."""
    forest: Forest = field(default_factory=Forest)
    mishandled: list[InputsMishandled] = field(default_factory=list)
    """Inputs that applications handle wrongly, by function."""
    documentation: list[DocumentationFinding] = field(default_factory=list)
    """Findings about the documentation of libraries."""

    def warn(self, message: str) -> None:
        """Count a warning, and store it if it is one of the first."""
        self.warning_count += 1
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(message)

    def add_mishandled(self, mishandled: InputsMishandled) -> None:
        """Store the inputs that a function handles wrongly, if it is one of the first."""
        if len(self.mishandled) < _MAX_MISHANDLED:
            self.mishandled.append(mishandled)
