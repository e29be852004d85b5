"""Progress of a lane: the job that it runs, and the batch that its worker received last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Crashed, Hung

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution.canaries import Canary
    from ciguard.execution.job import Job

_MAX_RETRIES = 2
"""Maximum retries of a job after external kills; the last one runs case by case."""


@dataclass(slots=True)
class Assignment:
    """A running job."""

    job: Job
    """Job that is running."""
    began: float
    """Start time on the clock of `time.monotonic`, in seconds."""
    outcomes: list[Outcome]
    """Outcomes of the first cases, in order."""
    batch_start: int = 0
    """Index of the first case of the last batch."""
    exits_without_progress: int = 0
    """Consecutive exits of workers that completed no case."""
    is_cautious: bool = False
    """True to send one case at a time, as records or canaries of a worker were wrong."""
    suspect: int = -1
    """Index of the case that was interrupted by a possibly external signal."""
    retries: int = 0
    """Retries after such signals since a crash was last attributed to a case."""
    is_invalidated: bool = False
    """True if a worker ended without proving the outcomes that it reported."""

    @property
    def is_complete(self) -> bool:
        """True if every case has an outcome, or the rest is skipped after hangs or a crash."""
        max_hangs = self.job.max_hangs
        hangs = sum(isinstance(outcome, Hung) for outcome in self.outcomes)
        if len(self.outcomes) == len(self.job.cases) or 0 < max_hangs <= hangs:
            return True
        return self.job.stops_at_crash and any(isinstance(one, Crashed) for one in self.outcomes)

    @property
    def is_alone(self) -> bool:
        """True if the worker runs a single case, so that the job ends when its result is proven."""
        is_own = (self.job.fresh or self.job.is_careful) and not self.job.session
        return is_own and len(self.job.cases) == 1

    def may_retry(self, index: int) -> bool:
        """Return whether to retry the last batch; the number of retries is bounded."""
        if index == self.suspect or self.retries >= _MAX_RETRIES:
            self.suspect, self.retries = -1, 0
            return False
        self.suspect = index
        self.retries += 1
        self.is_cautious |= self.retries == _MAX_RETRIES
        return True

    def invalidate(self) -> None:
        """Record that outcomes of the last worker remain unproven."""
        self.is_invalidated |= not self.job.fresh and len(self.outcomes) > self.batch_start


@dataclass(slots=True)
class AssignedBatch:
    """Last batch that a worker received: cases of the job, then canaries."""

    token: int = 0
    """Random token of the batch; 0 for none."""
    cases: int = 0
    """Number of cases."""
    canaries: Sequence[Canary] = ()
    """Canaries that follow the cases."""
    canary_outcomes: list[Outcome] = field(default_factory=list)
    """Outcomes of the canaries so far."""
    read: int = 0
    """Number of records that were read."""
    is_last: bool = False
    """True if the batch is the canary that crashes its worker."""

    @property
    def size(self) -> int:
        """Number of records that the batch produces."""
        return self.cases + len(self.canaries) + self.is_last

    @property
    def unread(self) -> int:
        """Number of records that were not read yet."""
        return self.size - self.read
