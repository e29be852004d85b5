"""Replay: the corpus is run first, so that what is known is met again, or is fixed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.stages.counting import counted
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stream import Executed
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import ended_well
from ciguard.execution import Job
from ciguard.oracles import traits_of
from ciguard.oracles.relations import encode, is_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult


@dataclass(slots=True)
class _PendingReplay:
    records: list[BaselineRecord]
    """Buckets that are shown by the same case, which is run once for all of them."""
    targets: list[str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One stored case that ran on all its targets."""

    fingerprints: tuple[str, ...]
    """Of the buckets that it is stored for."""
    group: Group
    executed: Executed

    @property
    def exercised_on(self) -> frozenset[str]:
        """Targets on which the call was made and ended well: silence there means that it is gone.

        What was found, if anything, is not looked at here.
        """
        outcomes = self.executed.outcomes.items()
        return frozenset(name for name, (outcome,) in outcomes if ended_well(outcome))


class Replays:
    """Runs the stored cases; the caller hands it the results that are its own."""

    KEY = "replay"

    def __init__(self, dispatcher: Dispatcher, groups: Mapping[str, Group]) -> None:
        self._dispatcher = dispatcher
        self._groups = groups
        self._under_way: dict[str, _PendingReplay] = {}
        self._started: dict[str, _PendingReplay] = {}
        self.doubted: set[str] = set()
        """Fingerprints of buckets that a void result of their case says nothing about."""
        self.shown: set[str] = set()
        """Fingerprints of buckets that the replay of their case has shown again."""
        self.passed: dict[str, frozenset[str]] = {}
        """Fingerprint → targets on which its stored case ended well and nothing was found."""

    @property
    def is_done(self) -> bool:
        """Whether no stored case is under way."""
        return not self._under_way

    def start(self, records: Iterable[BaselineRecord]) -> None:
        """Queue the case of every record on all targets that have its API."""
        alike: dict[tuple[str, bytes], _PendingReplay] = {}
        for record in records:
            group = self._groups.get(record.exhibit.library)
            targets = [] if group is None else group.targets_for(record.exhibit.case)
            if not is_whole(record.exhibit.case):
                targets = []  # alone, without its relation, it would pass for fixed
            if not targets:
                continue
            case = encode(record.exhibit.case)
            entry = alike.get((record.exhibit.api, case))
            if entry is not None:
                entry.records.append(record)
                continue
            entry = alike[record.exhibit.api, case] = _PendingReplay([record], targets)
            self._under_way[record.fingerprint] = self._started[record.fingerprint] = entry
            for target in targets:
                self._dispatcher.add(Job(target, (self.KEY, record.fingerprint), (case,)))

    def take(self, result: JobResult) -> Replayed | None:
        """Take a result; return the case with all its outcomes when it is the last of them."""
        fingerprint: str = result.job.key[1]  # type: ignore[index]
        entry = self._under_way.get(fingerprint)
        if entry is None:
            return None  # another of its targets failed meanwhile
        entry.outcomes[result.job.target] = result.outcomes[0]
        if len(entry.outcomes) < len(entry.targets):
            return None
        del self._under_way[fingerprint]
        names = tuple(record.fingerprint for record in entry.records)
        exhibit = entry.records[0].exhibit
        in_order = {name: (entry.outcomes[name],) for name in entry.targets}
        executed = Executed(exhibit.api, (exhibit.case,), in_order)
        return Replayed(names, self._groups[exhibit.library], executed)

    def doubt(self, fingerprint: str) -> None:
        """Let a case that has a void result pass for none of its buckets, now or later."""
        for record in self._started[fingerprint].records:
            self.doubted.add(record.fingerprint)
            self.passed.pop(record.fingerprint, None)

    def note_passed(self, complete: Replayed) -> None:
        """Take note of a case that showed nothing, unless one of its results is void."""
        for fingerprint in complete.fingerprints:
            if fingerprint not in self.doubted:
                self.passed[fingerprint] = complete.exercised_on

    def revise(self, fingerprints: Collection[str]) -> None:
        """Let buckets that passed show after all."""
        self.shown |= self.passed.keys() & fingerprints
        for fingerprint in fingerprints:
            self.passed.pop(fingerprint, None)

    def give_up(self, target: str) -> None:
        """Forget the cases that need a target that failed."""
        for fingerprint, entry in list(self._under_way.items()):
            if target in entry.targets:
                del self._under_way[fingerprint]


class Replay(CampaignStage):
    """Runs the corpus first: what is known must be seen again, or be fixed."""

    name = "replay"
    keys = (Replays.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._replays = Replays(state.dispatcher, state.groups)

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Buckets whose case showed nothing."""
        return self._replays.passed

    @property
    def shown(self) -> Collection[str]:
        """Buckets whose case showed them again."""
        return self._replays.shown

    def run(self, turns: Turns) -> Iterator[Event]:
        """Run the corpus, as far as it is not met by a stage of its own.

        What takes more time or memory passes: measuring meets that, and calls across libraries meet
        what differs between these.
        """
        until = self._state.budget.explore_until
        self._replays.start(
            record
            for record in (*self._state.corpus(), *self._state.corpus(is_flaky=True))
            if not traits_of(record.exhibit.oracle).is_measured
            and record.exhibit.pair is not PairKind.LIBRARY
        )
        while not self._replays.is_done and time.monotonic() < until:
            yield from turns.take()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Take a result; judge a case that has run on all of its targets."""
        complete = self._replays.take(result)
        if complete is None:
            return
        intake = self._state.intake
        before = dict(intake.counts)
        elapsed_s = self._state.budget.elapsed_s
        yield from counted(complete.executed, complete.group, elapsed_s=elapsed_s)
        yield from intake.take(complete.executed, complete.group)
        self._replays.shown.update(
            name
            for name in complete.fingerprints
            if intake.counts.get(name, 0) > before.get(name, 0)
        )
        if sum(intake.counts.values()) == sum(before.values()):
            self._replays.note_passed(complete)

    def doubt(self, job: Job) -> None:
        """Let no stored case count as passed by a result that is void."""
        match job.key:
            case (Replays.KEY, str(fingerprint)):
                self._replays.doubt(fingerprint)
            case _:
                pass  # nothing concludes from these but what is judged again

    def revise(self, fingerprints: Collection[str]) -> None:
        """Let a bucket that passed show after all."""
        self._replays.revise(fingerprints)

    def give_up(self, target: str) -> Iterator[Event]:
        """Forget the cases that need a target that failed."""
        self._replays.give_up(target)
        yield from ()
