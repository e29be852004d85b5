"""Attribution: nothing is new against a base, or fixed, before both sides ran it many times."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.campaign.group import subject_of
from ciguard.campaign.stages.trial import TOGETHER, Attributed, Suspect, trial
from ciguard.domain.findings import PairKind
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

_MAX_UNDER_WAY = 3


@dataclass(slots=True)
class _PendingTrial:
    """A trial, and what its last step waits for."""

    suspects: list[Suspect]
    steps: Steps
    waits_for: int = 0
    """Jobs of the last step."""
    answers: dict[int, Sequence[Outcome]] = field(default_factory=dict)
    """Of those that have ended, by their place."""


class Attributor:
    """Tries buckets on base and head; the caller hands it the results that are its own."""

    KEY = "attribute"

    def __init__(self, dispatcher: Dispatcher, groups: Mapping[str, Group]) -> None:
        """Make an attributor that has nothing to do.

        Args:
            dispatcher: runs the jobs.
            groups: by library.
        """
        self._dispatcher = dispatcher
        self._groups = groups
        self._queue: deque[Suspect] = deque()
        self._under_way: dict[int, _PendingTrial] = {}
        self._number = 0
        self._not_shown: set[tuple[str, tuple[str, ...]]] = set()
        """Causes, and targets on which calls near a case of theirs have shown nothing."""

    def propose(
        self, bucket: Bucket, cases: Sequence[Case], base: Collection[str]
    ) -> Suspect | None:
        """Queue a bucket that only one side of a change has shown.

        Args:
            bucket: that would be new, or fixed.
            cases: others that fell into it.
            base: names of the base's targets.

        Returns:
            None if both sides showed it, or calls on both cannot tell whose it is.
        """
        finding = bucket.finding
        if (
            not finding.case.is_run_by_worker
            or finding.pair is PairKind.LIBRARY
            or is_measured(finding)
        ):
            return None
        suspect = self._suspect(bucket.fingerprint, finding, tuple(cases), base)
        if suspect is not None:
            suspect.cause = cause_of(bucket).name
            self._queue.append(suspect)
        return suspect

    def _suspect(
        self, key: str, finding: Finding, cases: tuple[Case, ...], base: Collection[str]
    ) -> Suspect | None:
        names = self._groups[finding.library].targets_for(finding.case)
        of_base = tuple(name for name in names if name in base)
        of_head = tuple(name for name in names if name not in base)
        on_base = [name in base for name in finding.targets]
        is_pair = finding.pair is not PairKind.NONE
        is_of_head = not all(on_base) if is_pair else not any(on_base)
        if not of_base or not of_head or (not is_of_head and (is_pair or not all(on_base))):
            return None
        return Suspect(
            key=key,
            finding=finding,
            subject=subject_of(self._groups, finding),
            accused=of_head if is_of_head else of_base,
            others=of_base if is_of_head else of_head,
            is_of_head=is_of_head,
            cases=cases,
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not self._queue and not self._under_way

    def pump(self) -> None:
        """Start as many trials as may be under way at once."""
        while self._queue and len(self._under_way) < _MAX_UNDER_WAY:
            suspects = list(self._together(self._queue.popleft()))
            for suspect in suspects:
                suspect.is_of_tried_cause = (suspect.cause, suspect.others) in self._not_shown
            self._number += 1
            self._under_way[self._number] = _PendingTrial(suspects, trial(suspects))
            self._go_on(self._number, None)

    def _together(self, first: Suspect) -> Iterator[Suspect]:
        """Yield a suspect with those that can share its workers."""
        yield first
        if first.ends_workers:
            return
        sides = (first.accused, first.others)
        alike = [
            other
            for other in self._queue
            if not other.ends_workers and (other.accused, other.others) == sides
        ]
        for other in alike[: TOGETHER - 1]:
            self._queue.remove(other)
            yield other

    def _go_on(self, number: int, answers: Answers | None) -> bool:
        """Start the next jobs of a trial; return whether there are any."""
        going = self._under_way[number]
        try:
            jobs = next(going.steps) if answers is None else going.steps.send(answers)
        except StopIteration:
            return False
        going.answers, going.waits_for = {}, len(jobs)
        for place, job in enumerate(jobs):
            self._dispatcher.add(replace(job, key=(self.KEY, number, place)), urgent=True)
        return True

    def take(self, result: JobResult) -> list[Attributed]:
        """Take the result of one of this attributor's jobs; return what it settles."""
        number, place = _numbers(result.job)
        going = self._under_way.get(number)
        if going is None:
            return []  # given up meanwhile
        going.answers[place] = result.outcomes
        if len(going.answers) < going.waits_for:
            return []
        if self._go_on(number, [going.answers[place] for place in sorted(going.answers)]):
            return []
        del self._under_way[number]
        self._learn(going.suspects)
        return [suspect.attributed() for suspect in going.suspects]

    def _learn(self, tried: Sequence[Suspect]) -> None:
        """Take note of causes that the other side has not shown, and of those that it has."""
        for suspect in tried:
            tried_on = suspect.cause, suspect.others
            if suspect.shown_on:
                self._not_shown.discard(tried_on)
            elif not (suspect.is_pair or suspect.is_decided):
                self._not_shown.add(tried_on)

    def abandon(self, target: str = "") -> list[str]:
        """Give up what is not settled, and return its fingerprints.

        Args:
            target: give up only what needs this target; empty for everything.
        """
        waiting = [s for s in self._queue if not target or target in s.targets]
        for suspect in waiting:
            self._queue.remove(suspect)
        going = [
            number
            for number, one in self._under_way.items()
            if not target or target in one.suspects[0].targets
        ]
        tried = [s for number in going for s in self._under_way.pop(number).suspects]
        return [suspect.key for suspect in (*waiting, *tried)]


def _numbers(job: Job) -> tuple[int, int]:
    """Return the trial of a job, and its place among the jobs of one step."""
    match job.key:
        case (Attributor.KEY, int(number), int(place)):
            return number, place
        case key:
            msg = f"a result of nobody's trial: {key!r}"
            raise AssertionError(msg)
