"""Replay stage: the stored cases of known buckets run first, and show them again or as fixed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.stages.counting import counted
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import has_completed
from ciguard.execution import Job
from ciguard.oracles import traits_of
from ciguard.oracles.relations import encode, is_replayable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult


@dataclass(slots=True)
class _PendingReplay:
    records: list[BaselineRecord]
    """Records with the same case, which is run once for all of them."""
    targets: list[str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One stored case that ran on all its targets."""

    fingerprints: tuple[str, ...]
    """Fingerprints of the buckets with this case."""
    group: Group
    """Targets that ran the case."""
    executed: ExecutedBatch
    """Case and outcomes."""

    @property
    def exercised_on(self) -> frozenset[str]:
        """Targets on which the case ended well; its buckets are fixed there unless found again."""
        outcomes = self.executed.outcomes.items()
        return frozenset(name for name, (outcome,) in outcomes if has_completed(outcome))


class Replays:
    """Runs the stored cases; the caller passes it the results of its jobs."""

    KEY = "replay"

    def __init__(self, dispatcher: Dispatcher, groups: Mapping[str, Group]) -> None:
        self._dispatcher = dispatcher
        self._groups = groups
        self._running: dict[str, _PendingReplay] = {}
        self._started: dict[str, _PendingReplay] = {}
        self.invalidated: set[str] = set()
        """Fingerprints of the buckets whose case has an invalid result."""
        self.shown: set[str] = set()
        """Fingerprints of the buckets that their case has shown again."""
        self.passed: dict[str, frozenset[str]] = {}
        """Targets on which a stored case ended well without findings, by fingerprint."""

    @property
    def is_done(self) -> bool:
        """True if no stored case is running."""
        return not self._running

    def start(self, records: Iterable[BaselineRecord]) -> None:
        """Queue the case of every record on all targets that can run it."""
        by_case: dict[tuple[str, bytes], _PendingReplay] = {}
        for record in records:
            group = self._groups.get(record.representative.library)
            targets = [] if group is None else group.targets_for(record.representative.case)
            if not is_replayable(record.representative.case):
                targets = []  # without its relation, the bucket would seem fixed
            if not targets:
                continue
            case = encode(record.representative.case)
            entry = by_case.get((record.representative.api, case))
            if entry is not None:
                entry.records.append(record)
                continue
            entry = by_case[record.representative.api, case] = _PendingReplay([record], targets)
            self._running[record.fingerprint] = self._started[record.fingerprint] = entry
            for target in targets:
                self._dispatcher.add(Job(target, (self.KEY, record.fingerprint), (case,)))

    def take(self, result: JobResult) -> Replayed | None:
        """Add a result; return the case when all its outcomes are complete."""
        fingerprint: str = result.job.key[1]  # type: ignore[index]
        entry = self._running.get(fingerprint)
        if entry is None:
            return None  # one of its targets has failed
        entry.outcomes[result.job.target] = result.outcomes[0]
        if len(entry.outcomes) < len(entry.targets):
            return None
        del self._running[fingerprint]
        names = tuple(record.fingerprint for record in entry.records)
        representative = entry.records[0].representative
        in_order = {name: (entry.outcomes[name],) for name in entry.targets}
        executed = ExecutedBatch(representative.api, (representative.case,), in_order)
        return Replayed(names, self._groups[representative.library], executed)

    def invalidate(self, fingerprint: str) -> None:
        """Exclude the buckets of a case with an invalid result from `passed`."""
        for record in self._started[fingerprint].records:
            self.invalidated.add(record.fingerprint)
            self.passed.pop(record.fingerprint, None)

    def note_passed(self, complete: Replayed) -> None:
        """Record a case without findings, unless one of its results is invalid."""
        for fingerprint in complete.fingerprints:
            if fingerprint not in self.invalidated:
                self.passed[fingerprint] = complete.exercised_on

    def revise(self, fingerprints: Collection[str]) -> None:
        """Mark buckets as shown that had passed before."""
        self.shown |= self.passed.keys() & fingerprints
        for fingerprint in fingerprints:
            self.passed.pop(fingerprint, None)

    def give_up(self, target: str) -> None:
        """Drop cases that need a failed target."""
        for fingerprint, entry in list(self._running.items()):
            if target in entry.targets:
                del self._running[fingerprint]


class Replay(CampaignStage):
    """Runs the stored cases of known buckets, which show again or are fixed."""

    name = "replay"
    keys = (Replays.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._replays = Replays(state.dispatcher, state.groups)

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Targets on which the case of a bucket showed nothing, by fingerprint."""
        return self._replays.passed

    @property
    def shown(self) -> Collection[str]:
        """Fingerprints of the buckets whose case showed them again."""
        return self._replays.shown

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Run the stored cases, except those that other stages replay.

        Performance buckets are measured again, and differences between libraries are compared
        again, in their own stages.
        """
        until = self._state.budget.explore_until
        self._replays.start(
            record
            for record in (*self._state.corpus(), *self._state.corpus(is_flaky=True))
            if not traits_of(record.representative.oracle).is_measured
            and record.representative.pair is not PairKind.LIBRARY
        )
        while not self._replays.is_done and time.monotonic() < until:
            yield from loop.step()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Add a result, and judge its case if it has run on all targets."""
        complete = self._replays.take(result)
        if complete is None:
            return
        collector = self._state.collector
        previous = dict(collector.counts)
        elapsed_s = self._state.budget.elapsed_s
        yield from counted(complete.executed, complete.group, elapsed_s=elapsed_s)
        yield from collector.take(complete.executed, complete.group)
        self._replays.shown.update(
            name
            for name in complete.fingerprints
            if collector.counts.get(name, 0) > previous.get(name, 0)
        )
        if sum(collector.counts.values()) == sum(previous.values()):
            self._replays.note_passed(complete)

    def invalidate(self, job: Job) -> None:
        """Exclude stored cases from `replayed` if their result is invalid."""
        match job.key:
            case (Replays.KEY, str(fingerprint)):
                self._replays.invalidate(fingerprint)
            case _:
                pass  # a job of another stage

    def revise(self, fingerprints: Collection[str]) -> None:
        """Mark buckets as shown that had passed before."""
        self._replays.revise(fingerprints)

    def give_up(self, target: str) -> Iterator[Event]:
        """Drop cases that need a failed target."""
        self._replays.give_up(target)
        yield from ()
