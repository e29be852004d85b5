"""Attribution of buckets: both sides of a change run a case many times before it is attributed."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.campaign.group import subject_of
from ciguard.campaign.stages.trial import TOGETHER, Attributed, SuspectBucket, trial
from ciguard.domain.findings import PairKind
from ciguard.execution import Priority
from ciguard.oracles import is_measured
from ciguard.triage import cause_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.trial import Answers, Steps
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, Job, JobResult

_MAX_RUNNING = 3


@dataclass(slots=True)
class _PendingTrial:
    """A running trial, and the results of its present step."""

    suspects: list[SuspectBucket]
    steps: Steps
    waits_for: int = 0
    """Number of jobs of the present step."""
    answers: dict[int, Sequence[Outcome]] = field(default_factory=dict)
    """Outcomes of the finished jobs, by their index."""


class Attributor:
    """Tests buckets on base and head; the caller passes it the results of its jobs."""

    KEY = "attribute"

    def __init__(self, dispatcher: Dispatcher, groups: Mapping[str, Group]) -> None:
        """Create an idle attributor.

        Args:
            dispatcher: dispatcher of the jobs.
            groups: groups by library.
        """
        self._dispatcher = dispatcher
        self._groups = groups
        self._queue: deque[SuspectBucket] = deque()
        self._running: dict[int, _PendingTrial] = {}
        self._number = 0
        self._not_shown: set[tuple[str, tuple[str, ...]]] = set()
        """Causes, each with targets on which calls near its cases have shown nothing."""

    @staticmethod
    def is_attributable(finding: Finding, base: Collection[str]) -> bool:
        """Return whether only one side has shown a finding, and can be tried against the other."""
        on_base = [name in base for name in finding.targets]
        is_pair = finding.pair is not PairKind.NONE
        is_one_sided = not all(on_base) if is_pair else len(set(on_base)) == 1
        return (
            is_one_sided
            and finding.case.is_run_by_worker
            and finding.pair is not PairKind.LIBRARY
            and not is_measured(finding)
        )

    def propose(
        self, bucket: Bucket, cases: Sequence[Case], base: Collection[str]
    ) -> SuspectBucket | None:
        """Queue a bucket that only one side of a change has shown.

        Args:
            bucket: bucket that would be new, or fixed.
            cases: other cases of the bucket.
            base: names of the base's targets.

        Returns:
            None if both sides showed it, or if it cannot be attributed.
        """
        finding = bucket.finding
        if not self.is_attributable(finding, base):
            return None
        suspect = self._suspect(bucket.fingerprint, finding, tuple(cases), base)
        if suspect is not None:
            suspect.cause = cause_of(bucket).name
            self._queue.append(suspect)
        return suspect

    def _suspect(
        self, key: str, finding: Finding, cases: tuple[Case, ...], base: Collection[str]
    ) -> SuspectBucket | None:
        names = self._groups[finding.library].targets_like(finding)
        base_targets = tuple(name for name in names if name in base)
        head_targets = tuple(name for name in names if name not in base)
        on_base = [name in base for name in finding.targets]
        is_pair = finding.pair is not PairKind.NONE
        is_of_head = not all(on_base) if is_pair else not any(on_base)
        if not base_targets or not head_targets:
            return None
        return SuspectBucket(
            key=key,
            finding=finding,
            subject=subject_of(self._groups, finding),
            suspect_targets=head_targets if is_of_head else base_targets,
            other_targets=base_targets if is_of_head else head_targets,
            is_of_head=is_of_head,
            cases=cases,
        )

    @property
    def is_idle(self) -> bool:
        """True if no trial is waiting or running."""
        return not self._queue and not self._running

    def pump(self) -> None:
        """Start trials, up to the limit of trials at the same time."""
        while self._queue and len(self._running) < _MAX_RUNNING:
            suspects = list(self._together(self._queue.popleft()))
            for suspect in suspects:
                suspect.is_repeated_cause = (
                    suspect.cause,
                    suspect.other_targets,
                ) in self._not_shown
            self._number += 1
            self._running[self._number] = _PendingTrial(suspects, trial(suspects))
            self._continue_trial(self._number, None)

    def _together(self, first: SuspectBucket) -> Iterator[SuspectBucket]:
        """Yield a suspect, and others that can share its workers."""
        yield first
        if first.loses_worker:
            return
        sides = (first.suspect_targets, first.other_targets)
        compatible = [
            other
            for other in self._queue
            if not other.loses_worker and (other.suspect_targets, other.other_targets) == sides
        ]
        for other in compatible[: TOGETHER - 1]:
            self._queue.remove(other)
            yield other

    def _continue_trial(self, number: int, answers: Answers | None) -> bool:
        """Start the next jobs of a trial; return whether there are any."""
        pending = self._running[number]
        try:
            jobs = next(pending.steps) if answers is None else pending.steps.send(answers)
        except StopIteration:
            return False
        pending.answers, pending.waits_for = {}, len(jobs)
        for index, job in enumerate(jobs):
            self._dispatcher.add(replace(job, key=(self.KEY, number, index)), Priority.URGENT)
        return True

    def take(self, result: JobResult) -> list[Attributed]:
        """Process the result of one of its jobs; return the attributions that it decides."""
        number, index = _numbers(result.job)
        pending = self._running.get(number)
        if pending is None:
            return []  # abandoned meanwhile
        pending.answers[index] = result.outcomes
        if len(pending.answers) < pending.waits_for:
            return []
        if self._continue_trial(
            number, [pending.answers[index] for index in sorted(pending.answers)]
        ):
            return []
        del self._running[number]
        self._record_causes(pending.suspects)
        return [suspect.attributed() for suspect in pending.suspects]

    def _record_causes(self, suspects: Sequence[SuspectBucket]) -> None:
        """Record which causes the other side has not shown."""
        for suspect in suspects:
            key = suspect.cause, suspect.other_targets
            if suspect.shown_on:
                self._not_shown.discard(key)
            elif not (suspect.is_pair or suspect.is_decided):
                self._not_shown.add(key)

    def abandon(self, target: str = "") -> list[str]:
        """Abandon undecided buckets, and return their fingerprints.

        Args:
            target: target whose buckets are abandoned; empty for all buckets.
        """
        waiting = [suspect for suspect in self._queue if not target or target in suspect.targets]
        for suspect in waiting:
            self._queue.remove(suspect)
        numbers = [
            number
            for number, pending in self._running.items()
            if not target or target in pending.suspects[0].targets
        ]
        running = [suspect for number in numbers for suspect in self._running.pop(number).suspects]
        return [suspect.key for suspect in (*waiting, *running)]


def _numbers(job: Job) -> tuple[int, int]:
    """Return the number of a job's trial, and the job's index within its step."""
    match job.key:
        case (Attributor.KEY, int(number), int(index)):
            return number, index
        case key:
            msg = f"no trial owns the job {key!r}"
            raise AssertionError(msg)
