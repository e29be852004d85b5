"""A dispatcher that answers requests for measurements without workers."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Crashed, Outcome, Passed
from ciguard.execution import Job, JobResult, Measurement, Quantity

if TYPE_CHECKING:
    from collections.abc import Callable

FAST, SLOW = 100e3, 300e3
SCREENING = 7
"""Jobs: how long the call takes, then three rounds on two targets."""


@dataclass
class FakeDispatcher:
    """A dispatcher that answers each request with `value`."""

    value: Callable[[str, str, int], float]
    """Given the target, the quantity and the session."""
    jobs: deque[Job] = field(default_factory=deque)
    done: list[Job] = field(default_factory=list)
    dies: bool = False
    deadly: str = ""
    """Crash in the thorough measurement."""

    def add(self, job: Job) -> None:
        self.jobs.append(job)

    def answer(self) -> JobResult:
        job = self.jobs.popleft()
        self.done.append(job)
        return JobResult(job, tuple(self._outcome(job, request) for request in job.cases), 0.1)

    def _outcome(self, job: Job, request: bytes) -> Outcome:
        (quantity, *plan), case = json.loads(request)
        if self.dies or (case[0] == self.deadly and len(self.done) > SCREENING):
            return Crashed("SIGSEGV")
        value = self.value(job.target, quantity, job.session)
        values = (value,)
        if quantity == "growth":
            values = tuple(1e8 + at * plan[0] * value for at in range(plan[1]))
        calls = plan[0] if plan else 1
        measured = Measurement(quantity=Quantity(quantity), values=values, calls=calls)
        return Passed(measured.encoded(), 1e-3)
