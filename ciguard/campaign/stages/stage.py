"""What the stages of a run have in common.

A run is a list of stages (`ciguard.campaign.run`), each with a part of the time box. They go one
after the other, and each in the same way:

- its turn comes once, in `run`: it starts jobs and takes turns of the loop until it has no more to
  do or its time is over;
- what it has started may end later, and what others have done may concern it: so every stage takes
  part in the turns of all. `take` receives the results of its own jobs, known by the first word of
  their keys, `prepare_turn` may start more, `doubt`, `revise` and `give_up` take back what earlier
  results said;
- it contributes events, jobs for the dispatcher, findings for the intake, and `replayed`, what it
  knows of buckets of the baseline.

Stages share `ciguard.campaign.state`, and know nothing of each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ciguard.domain.events import Event
    from ciguard.execution import Job, JobResult


class Turns(Protocol):
    """The loop, as a stage that has its turn sees it."""

    @property
    def is_proven(self) -> bool:
        """Whether every result can be relied upon, and none is waited for a second time."""

    def take(self, *, is_patient: bool = False) -> Iterator[Event]:
        """Take one turn: every stage starts what may be started, and gets the results that came.

        Args:
            is_patient: what is to be confirmed may wait until more of it can be confirmed together.
        """

    def take_quietly(self) -> Iterator[Event]:
        """Take one turn in which nothing is started but what follows from the results."""


class CampaignStage(ABC):
    """One stage of a run; all but `run` is empty here."""

    name: str
    """Under which its time is reported."""

    @property
    def keys(self) -> Collection[str]:
        """First words of the keys of its jobs."""
        return ()

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Fingerprints of the baseline → targets on which their case ran again and ended well."""
        return {}

    @property
    def shown(self) -> Collection[str]:
        """Fingerprints of the baseline whose case has shown them again."""
        return ()

    @abstractmethod
    def run(self, turns: Turns) -> Iterator[Event]:
        """Do everything, until the stage's time is over.

        Raises:
            CiguardError: if the run cannot go on.
            KeyboardInterrupt: if somebody ends it.
        """

    def prepare_turn(self, *, is_patient: bool) -> Iterator[Event]:
        """Start what may be started, in the turn of any stage."""
        del is_patient
        return iter(())

    def take(self, result: JobResult) -> Iterator[Event]:
        """Take the result of one of its jobs."""
        raise AssertionError(result.job.key)

    def doubt(self, job: Job) -> None:
        """Let nothing conclude from the results of a job: they are void, and it may run again."""
        del job

    def revise(self, fingerprints: Collection[str]) -> None:
        """Note that these buckets were shown by what ran again."""
        del fingerprints

    def give_up(self, target: str) -> Iterator[Event]:
        """Forget what needs a target that failed.

        Called in every turn: batches that had run before are judged later, and bring candidates.
        """
        del target
        return iter(())

    def close(self) -> None:
        """Settle what is still open: the run ends, by itself or interrupted."""
        return
