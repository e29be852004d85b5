"""Turns of the loop: results go to whoever asked for them, and what comes of them is said."""

from __future__ import annotations

import time
from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ciguard.campaign.group import members_of, subject_of
from ciguard.campaign.intake import Intake
from ciguard.campaign.levels import level_of, levels_in
from ciguard.campaign.rating import Rater
from ciguard.campaign.redoing import Redoing
from ciguard.campaign.stages.attributing import Attributor
from ciguard.campaign.stages.equivalents import Equivalents
from ciguard.campaign.stages.measuring import Measurer
from ciguard.campaign.stages.replay import Replays
from ciguard.campaign.stages.suspects import Suspects
from ciguard.campaign.stream import Executed, Stream
from ciguard.domain import BatchFinished, Event, TargetUnavailable, is_unbuilt
from ciguard.interrupts import held
from ciguard.triage import Confirmer, Minimiser

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from ciguard.campaign.budget import Budget
    from ciguard.campaign.group import Group, Member
    from ciguard.campaign.journal import Journal
    from ciguard.campaign.levels import Investigator
    from ciguard.config import Config
    from ciguard.domain import Finding
    from ciguard.execution import Dispatcher, Job, Result
    from ciguard.oracles import Subject

_WAIT_S = 0.1
_NOTE_EVERY_S = 1.0


class Turns:
    """Routes results between the dispatcher and the parts of a campaign, which it holds."""

    def __init__(
        self,
        config: Config,
        *,
        known: Collection[str],
        dispatcher: Dispatcher,
        journal: Journal,
        budget: Budget,
    ) -> None:
        """Make the parts; groups and streams are added when the targets are ready.

        Args:
            config: of the run.
            known: fingerprints of the baseline.
            dispatcher: runs every job.
            journal: where it is noted how far the run is.
            budget: of the run.
        """
        self._dispatcher = dispatcher
        self._journal = journal
        self._budget = budget
        self._noted_at = 0.0
        self._noted_s = budget.elapsed_s
        """When the progress was written that `proven` is to follow."""
        self._waits_for: set[tuple[str, tuple[Any, ...]]] = set()
        """Target and key of the jobs that were unproven then."""
        self._is_complete = True
        """Whether every batch that was judged ran on all of its targets."""
        self.groups: dict[str, Group] = {}
        """By library."""
        self.streams: dict[str, Stream] = {}
        """By name."""
        self.replays = Replays(dispatcher, self.groups)
        self.confirmer = Confirmer(
            dispatcher,
            repetitions=config.confirmations,
            subject_of=self._subject_of,
            time_left=lambda: budget.confirm_until - time.monotonic(),
        )
        self.redoing = Redoing(dispatcher, self.groups, on_void=self._doubt)
        self.suspects = Suspects()
        made = {level.name: level.investigator(dispatcher) for level in levels_in(config)}
        self._investigators = {name: one for name, one in made.items() if one is not None}
        """By level."""
        self.equivalents = Equivalents(dispatcher, self.groups)
        self.measurer = Measurer(dispatcher, self.groups, known=known)
        self.minimiser = Minimiser(
            dispatcher,
            repetitions=config.confirmations,
            subject_of=self._subject_of,
            time_left=lambda: budget.minimise_until - time.monotonic(),
            conformity=Rater(self.groups),
        )
        self.attributor = Attributor(dispatcher, self.groups)
        self.intake = Intake(
            confirmer=self.confirmer,
            journal=journal,
            groups=self.groups,
            known=known,
            policy=config.policy,
        )

    def _subject_of(self, finding: Finding) -> Subject:
        return subject_of(self.groups, finding)

    @property
    def members(self) -> dict[str, Member]:
        """Every target of every group, by name."""
        return members_of(self.groups)

    @property
    def is_settled(self) -> bool:
        """Whether no finding waits to be isolated or confirmed, and every result is proven."""
        # First: workers that have nothing to do prove themselves while others still confirm.
        is_proven = self._dispatcher.prove() and self.redoing.is_idle
        is_clear = all(one.is_idle for one in self._investigators.values())
        return is_proven and is_clear and self.confirmer.is_idle

    def abandon_investigations(self) -> None:
        """Forget what is looked into and not settled."""
        for investigator in self._investigators.values():
            investigator.abandon()

    def take(self, *, is_patient: bool = False) -> Iterator[Event]:
        """Take one turn: start what waits for confirmation, and route the results that came in."""
        self.confirmer.pump(is_patient=is_patient)
        for investigator in self._investigators.values():
            for finding in investigator.pump():
                yield from self.intake.propose(finding)
        yield from self.take_quietly()

    def take_quietly(self) -> Iterator[Event]:
        """Route the results that came in, and start nothing but what follows from them."""
        for result in self._dispatcher.wait(_WAIT_S):
            yield from self._route(result)
        yield from self.redoing.pump()
        yield from self._notice_failures()
        self.note()

    def _route(self, result: Result) -> Iterator[Event]:
        match result.job.key:
            case (Confirmer.KEY | Measurer.KEY as key, _):
                asked = self.confirmer if key == Confirmer.KEY else self.measurer
                yield from self.intake.settle(asked.take(result))
            case (str(key), *_) if key in self._takers:
                yield from self._takers[key](result)
            case (Stream.KEY, str(name), _):
                stream = self.streams[name]
                for executed in stream.take(result):
                    yield from self.judge(stream, executed)
            case key:
                msg = f"a result of nobody's job: {key!r}"
                raise AssertionError(msg)

    @cached_property
    def _takers(self) -> Mapping[str, Callable[[Result], Iterator[Event]]]:
        """What takes the results of jobs whose keys begin with these words."""
        return {
            Attributor.KEY: self._take_attributed,
            Equivalents.KEY: self._take_equivalent,
            Minimiser.KEY: self._take_simpler,
            Redoing.KEY: self._take_again,
            Replays.KEY: self._take_replay,
            **{
                one.key: partial(self._take_investigated, one)
                for one in self._investigators.values()
            },
        }

    def _take_simpler(self, result: Result) -> Iterator[Event]:
        for finding in self.minimiser.take(result):
            self.intake.simplify(finding)
        yield from ()

    def _take_attributed(self, result: Result) -> Iterator[Event]:
        for attributed in self.attributor.take(result):
            yield from self.intake.attribute(attributed)

    def _take_investigated(self, one: Investigator, result: Result) -> Iterator[Event]:
        for finding in one.take(result):
            yield from self.intake.propose(finding)

    def _take_replay(self, result: Result) -> Iterator[Event]:
        complete = self.replays.take(result)
        if complete is None:
            return
        counts = self.intake.counts
        before = {name: counts.get(name, 0) for name in complete.fingerprints}
        findings = sum(counts.values())
        yield from self._count(complete.group, complete.executed)
        yield from self.intake.take(complete.executed, complete.group)
        self.replays.shown |= {name for name in before if counts.get(name, 0) > before[name]}
        if sum(counts.values()) == findings:
            self.replays.note_passed(complete)

    def _doubt(self, job: Job) -> None:
        """Let no stored case count as passed by a result that is void."""
        match job.key:
            case (Replays.KEY, str(fingerprint)):
                self.replays.doubt(fingerprint)
            case (Equivalents.KEY, int(number)):
                self.equivalents.doubt(number)
            case _:
                pass  # nothing concludes from these but what is judged again

    def _take_again(self, result: Result) -> Iterator[Event]:
        for group, executed in self.redoing.take(result):
            yield from self._judge_again(group, executed)

    def _judge_again(self, group: Group, executed: Executed) -> Iterator[Event]:
        """Judge what was done again: a bucket whose replay passed may show after all."""
        investigator = self._investigators.get(executed.level)
        if investigator is not None:
            investigator.note(executed, group)
            return
        before = dict(self.intake.counts)
        yield from self.intake.take(executed, group)
        shown = {name for name, count in self.intake.counts.items() if count > before.get(name, 0)}
        self.replays.shown |= shown & self.replays.passed.keys()
        for name in shown:
            self.replays.passed.pop(name, None)

    def _take_equivalent(self, result: Result) -> Iterator[Event]:
        for group, executed in self.equivalents.take(result):
            yield from self._count(group, executed)
            yield from self.intake.take(executed, group)
        for finding in self.equivalents.findings():
            yield from self.intake.propose(finding)

    def judge(self, stream: Stream, executed: Executed) -> Iterator[Event]:
        """Judge a batch, then yield what came of it: an interruption comes between two batches."""
        with held():
            judged: list[Event] = []
            investigator = self._investigators.get(executed.level)
            if investigator is not None:
                investigator.note(executed, stream.group)
            else:
                judged += self.intake.take(executed, stream.group)
            counted = list(self._count(stream.group, executed))
            self.suspects.note(executed, stream.group)
            self.equivalents.note(executed)
            stream.mark_judged()
        reported = level_of(executed.level).events_of(executed)
        yield from (*counted, *reported, *judged)

    def _count(self, group: Group, executed: Executed) -> Iterator[Event]:
        apis = {
            api for case in executed.cases for api in case.apis if group.record(api) is not None
        }
        for name, outcomes in executed.outcomes.items():
            kinds = Counter(map(type, outcomes))
            counts = {kind.__name__.lower(): count for kind, count in kinds.items()}
            group.members[name].count(apis, counts)
            group.members[name].tried += len(outcomes)
            group.members[name].unbuilt += sum(map(is_unbuilt, outcomes))
            yield BatchFinished(
                target=name,
                api=executed.api,
                counts=counts,
                elapsed_s=self._budget.elapsed_s,
            )

    def _notice_failures(self) -> Iterator[Event]:
        for name, member in self.members.items():
            reason = self._dispatcher.failure(name)
            if not reason:
                continue
            # Every time: batches that had run before are judged later, and bring candidates.
            yield from self.intake.settle(self.confirmer.abandon(name))
            yield from self.intake.settle(self.measurer.abandon(name))
            self.minimiser.abandon(name)
            for key in self.attributor.abandon(name):
                self.intake.doubt(key)
            if not member.not_run:
                # From here on batches lack this target: none of them may count as done on resume,
                # nor what its workers cannot prove any more.
                self._is_complete = False
                member.not_run = reason
                self.replays.give_up(name)
                self.equivalents.give_up(name)
                for group, executed in self.redoing.give_up(name):
                    yield from self._judge_again(group, executed)
                for investigator in self._investigators.values():
                    investigator.give_up(name)
                yield TargetUnavailable(target=name, reason=reason)

    def note(self, *, force: bool = False) -> None:
        """Write down how far the run is, about once a second, while all targets take part."""
        now = time.monotonic()
        if not self._is_complete or (not force and now - self._noted_at < _NOTE_EVERY_S):
            return
        self._noted_at = now
        is_proven = self._note_proofs()
        members = self.members.values()
        targets: dict[str, Any] = {
            m.name: {"tally": m.tally.as_dict(), "exercised": sorted(m.unnoted)} for m in members
        }
        with held():
            for member in members:
                member.unnoted.clear()
            self._journal.progress(
                self._budget.elapsed_s,
                streams={name: stream.state() for name, stream in self.streams.items()},
                targets=targets,
                counts=self.intake.counts,
                lessons={name: stream.new_lessons() for name, stream in self.streams.items()},
                waits=not is_proven,
            )

    def _note_proofs(self) -> bool:
        """Write down what is proven since; return whether everything that was judged is."""
        unproven = {
            (target, key)
            for target, key in self._dispatcher.unproven()
            if isinstance(key, tuple) and key[0] in {Stream.KEY, Redoing.KEY}
        }
        is_redone = self.redoing.is_settled and not any(k[0] == Redoing.KEY for _, k in unproven)
        if is_redone and not self._waits_for & unproven:
            if self._waits_for:
                self._journal.proven(self._noted_s)
            self._waits_for, self._noted_s = unproven, self._budget.elapsed_s
        return is_redone and not unproven
