"""Interface of the stages of a run.

A run goes through a list of stages (`ciguard.campaign.run`), each with its part of the time budget:

- `run` is called once per stage. It starts jobs, and steps the event loop until the stage has no
  more work or its time is over.
- While any stage runs, all stages receive calls. `take` processes results of their own jobs, which
  are identified by the first element of the key. `start_jobs` may start more jobs. `invalidate`,
  `revise` and `give_up` correct conclusions from earlier results.
- A stage contributes events, jobs for the dispatcher, and findings for the collector. `replayed`
  and `shown` are its results for buckets of the baseline.

Stages share `ciguard.campaign.state`, and do not depend on each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ciguard.domain.events import Event
    from ciguard.execution import Job, JobResult


class EventLoop(Protocol):
    """Event loop, as the running stage uses it."""

    @property
    def is_proven(self) -> bool:
        """True if every result is proven, and no case runs again."""

    @property
    def needed_s(self) -> float:
        """Expected time for the waiting work of all stages, in seconds."""

    @property
    def overtime_s(self) -> float:
        """Expected time that stages need beyond their shares of the budget, in seconds."""

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        """Let every stage start jobs, then route the available results to their stages.

        Args:
            is_exploring: whether the jobs run beside those of exploring.
        """

    def step_running(self) -> Iterator[Event]:
        """Route the available results to their stages, without starting other jobs."""


class CampaignStage(ABC):
    """One stage of a run; all methods except `run` are optional."""

    name: str
    """Name under which its time is reported."""

    @property
    def keys(self) -> Collection[str]:
        """First elements of the keys of its jobs."""
        return ()

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Targets on which a stored case ran again and ended well, by fingerprint."""
        return {}

    @property
    def shown(self) -> Collection[str]:
        """Fingerprints of known buckets whose case has shown them again."""
        return ()

    @abstractmethod
    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Run the stage until it is complete or its time is over.

        Raises:
            CiguardError: if the run cannot continue.
            KeyboardInterrupt: if the user interrupts the run.
        """

    @property
    def needed_s(self) -> float:
        """Expected time for its waiting work, in seconds, which exploring leaves for it."""
        return 0.0

    @property
    def overtime_s(self) -> float:
        """Expected time that it needs beyond its share, by which exploring ends earlier."""
        return 0.0

    def start_jobs(self, *, is_exploring: bool) -> Iterator[Event]:
        """Start jobs, while any stage is running.

        Args:
            is_exploring: whether the jobs run beside those of exploring. Then they may wait, so
                that more of them share a worker.
        """
        del is_exploring
        return iter(())

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process the result of one of its jobs."""
        raise AssertionError(result.job.key)

    def invalidate(self, job: Job) -> None:
        """Ignore the results of a job, as they are invalid; the job may run again."""
        del job

    def revise(self, fingerprints: Collection[str]) -> None:
        """Record that cases which ran again have shown these buckets."""
        del fingerprints

    def give_up(self, target: str) -> Iterator[Event]:
        """Drop all work that needs a failed target.

        It is called in every step, as batches that ran before may be judged later.
        """
        del target
        return iter(())

    def close(self) -> None:
        """Settle all unfinished work, as the run ends."""
        return
