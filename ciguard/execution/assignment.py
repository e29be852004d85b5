"""What a lane is at: the job that it runs, and the batch that its worker was last given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Hung

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution.canaries import Canary
    from ciguard.execution.job import Job

_MAX_RETRIES = 2
"""Of a job after deaths that may come from outside; the last of them runs case by case."""


@dataclass(slots=True)
class Assignment:
    """A job under way."""

    job: Job
    began: float
    outcomes: list[Outcome]
    sent_at: int = 0
    """How many outcomes there were when the cases were last sent: the worker counts from there."""
    deaths_without_progress: int = 0
    is_cautious: bool = False
    """Send one case at a time: the worker's records or canaries were found to be wrong."""
    suspect: int = -1
    """Place of the case that a signal ended which may have come from outside."""
    retries: int = 0
    """How often it ran again after such a signal since a case was last charged with one."""
    is_void: bool = False
    """Whether a worker ended in a way that proves nothing of what it did."""

    @property
    def is_complete(self) -> bool:
        """Whether every case has its outcome, or so many hang that the rest is left out."""
        most = self.job.most_hangs
        hangs_too_often = bool(most) and sum(isinstance(o, Hung) for o in self.outcomes) >= most
        return len(self.outcomes) == len(self.job.cases) or hangs_too_often

    def may_retry(self, place: int) -> bool:
        """Return whether to run again from the last case sent; scattered deaths end, too."""
        if place == self.suspect or self.retries >= _MAX_RETRIES:
            self.suspect, self.retries = -1, 0
            return False
        self.suspect = place
        self.retries += 1
        self.is_cautious |= self.retries == _MAX_RETRIES
        return True

    def doubt(self) -> None:
        """Take note that what the last worker did of the job remains unproven."""
        self.is_void |= not self.job.fresh and len(self.outcomes) > self.sent_at


@dataclass(slots=True)
class AssignedBatch:
    """What the worker was last given: cases of the job, then canaries."""

    token: int = 0
    cases: int = 0
    canaries: Sequence[Canary] = ()
    seen: list[Outcome] = field(default_factory=list)
    """Outcomes of the canaries so far."""
    read: int = 0
    """Records that were taken."""
    is_last: bool = False
    """Whether it holds the canary that a worker does not survive."""

    @property
    def size(self) -> int:
        """Records that it comes to."""
        return self.cases + len(self.canaries) + self.is_last

    @property
    def unread(self) -> int:
        """Records that are still to come."""
        return self.size - self.read
