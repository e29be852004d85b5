"""The loop that ties the rooms together, inside a time box."""

from __future__ import annotations

import errno
import tempfile
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from ciguard.campaign.budget import Budget
from ciguard.campaign.conclude import Conclusion, conclude, load_memory
from ciguard.campaign.experience import ExperienceStore, Snapshot, note_used, recall_used
from ciguard.campaign.intake import Intake
from ciguard.campaign.journal import Journal, Past, read_journal, set_aside
from ciguard.campaign.parameters import parameters_of, resumed
from ciguard.campaign.provisioning import provision_targets
from ciguard.campaign.setup import documentation_of, start_groups, streams_of, summary
from ciguard.campaign.stream import Executed, Stream
from ciguard.domain import (
    BatchFinished,
    Event,
    RunFinished,
    RunStarted,
    StageFinished,
    Tally,
    TargetUnavailable,
)
from ciguard.errors import OutputError, WorkerStartError
from ciguard.execution import Dispatcher, Job
from ciguard.oracles import encode
from ciguard.triage import Confirmer, Minimiser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.conclude import Memory
    from ciguard.campaign.group import Group
    from ciguard.config import Config
    from ciguard.domain import Outcome
    from ciguard.execution import Result
    from ciguard.targets import Environment

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Workers need temporary files, so a full disk may show itself anywhere."""
_WAIT_S = 0.1
_NOTE_EVERY_S = 1.0
_REPLAY = "replay"
EXPERIENCE = "experience"
"""Key of the parameters: which snapshots of what was learned the run began with."""


def run(config: Config) -> Iterator[Event]:
    """Run a campaign.

    The last event is `RunFinished`, also after an interruption: a KeyboardInterrupt, raised here or
    thrown in, ends the run with what was found so far.

    Raises:
        CiguardError: before anything runs, if targets, baseline or output folder are unusable;
            while it runs, if results cannot be written.
    """
    past = Past()
    if config.resume:
        past = read_journal(config.out)
        config = resumed(config, past.parameters)
    memory = load_memory(config)
    yield RunStarted(
        targets=config.targets,
        levels=config.levels,
        seed=config.seed,
        budget_s=config.budget_s,
        jobs=max(1, config.jobs),
        out=str(config.out),
        resumed=config.resume,
    )
    began = time.monotonic()
    environments = yield from provision_targets(config.targets)
    yield StageFinished(stage="provision", spent_s=time.monotonic() - began)
    if not config.resume:
        set_aside(config.out)
    try:
        with Journal(config.out) as journal, Dispatcher(lanes=max(1, config.jobs)) as dispatcher:
            campaign = _Campaign(config, memory, past, dispatcher=dispatcher, journal=journal)
            yield from campaign.events(environments)
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        msg = (
            f"{error.filename or tempfile.gettempdir()}: {error.strerror}. Free some space, then "
            "go on with `ciguard run --resume`."
        )
        raise OutputError(msg) from error


class _Campaign:
    """One run, from environments to conclusion."""

    def __init__(
        self,
        config: Config,
        memory: Memory,
        past: Past,
        *,
        dispatcher: Dispatcher,
        journal: Journal,
    ) -> None:
        self._config = config
        self._memory = memory
        self._past = past
        self._dispatcher = dispatcher
        self._budget = Budget(config.budget_s, spent_s=past.elapsed_s)
        self._journal = journal
        self._groups: dict[str, Group] = {}
        self._streams: dict[str, Stream] = {}
        self._confirmer = Confirmer(
            dispatcher,
            repetitions=config.confirmations,
            subject_of=lambda finding: self._groups[finding.library].subject(finding.api),
        )
        self._minimiser = Minimiser(
            dispatcher,
            repetitions=config.confirmations,
            subject_of=lambda finding: self._groups[finding.library].subject(finding.api),
        )
        self._intake = Intake(
            confirmer=self._confirmer,
            journal=self._journal,
            groups=self._groups,
            known=memory.fingerprints,
        )
        self._replays: dict[str, tuple[BaselineRecord, dict[str, Outcome], list[str]]] = {}
        self._replayed: dict[str, frozenset[str]] = {}
        self._noted_at = 0.0
        self._explored_in_s = config.budget_s
        self._used: dict[str, Snapshot] = {}
        """What was known from outcomes when the run began, by library."""

    def events(self, environments: Mapping[str, Environment]) -> Iterator[Event]:
        """Go through all stages; the last event is `RunFinished`."""
        interrupted = False
        try:
            yield from self._prepare(environments)
            yield from self._replay()
            yield from self._explore()
            yield from self._confirm()
            yield from self._minimise()
        except KeyboardInterrupt:
            interrupted = True
        yield from self._conclude(interrupted=interrupted)

    def _finish_stage(self, name: str) -> Event:
        return StageFinished(stage=name, spent_s=self._budget.finish_stage(name))

    # --- stages ---------------------------------------------------------------------------------

    def _prepare(self, environments: Mapping[str, Environment]) -> Iterator[Event]:
        groups = yield from start_groups(environments, self._config, self._dispatcher)
        self._groups.update(groups)
        failures = [m.not_run for g in groups.values() for m in g.members.values() if m.not_run]
        if failures:
            raise WorkerStartError("\n".join(failures))
        lanes = max(1, self._config.jobs)
        for stream in streams_of(groups, self._config, lanes=lanes, choose=self._choose):
            self._streams[stream.name] = stream
            if not stream.last:
                stream.last = self._memory.frontier.last(stream.name, self._config.budget_s)
        self._recall()
        yield from documentation_of(groups)
        yield self._finish_stage("describe")

    def _choose(self, group: Group, name: Callable[[str], str]) -> Snapshot:
        """Return what a group's level begins with: with what was learned before, if anything."""
        if group.library in self._used:
            return self._used[group.library]
        if self._config.resume:
            digest = self._past.parameters.get(EXPERIENCE, {}).get(group.library, "")
            used = recall_used(self._config.out, group.library, digest)
        else:
            environment = next(iter(group.running)).environment
            store = ExperienceStore(environment, baseline=self._config.baseline)
            used = store.choose(lambda digest: self._memory.frontier.knows(name(digest)))
            note_used(self._config.out, group.library, used)
        self._used[group.library] = used
        return used

    def _keep_experience(self) -> None:
        """Keep what was learned for the next campaign."""
        for library, group in self._groups.items():
            learned = dict(self._used.get(library, Snapshot()).learned)
            for stream in self._streams.values():
                if stream.group is group:
                    learned |= stream.lessons.everything()
            ExperienceStore(next(iter(group.members.values())).environment).save(learned)

    def _parameters(self) -> dict[str, Any]:
        used = {library: snapshot.digest for library, snapshot in self._used.items()}
        return {**parameters_of(self._config), EXPERIENCE: used}

    def _recall(self) -> None:
        """Take up what an earlier part of the same campaign has left."""
        past = self._past
        if not self._config.resume:
            self._journal.start(self._parameters())
        for name, state in past.streams.items():
            if name in self._streams:
                self._streams[name].continue_from(state)
                self._streams[name].lessons.recall(past.lessons.get(name, ()))
        members = {m.name: m for group in self._groups.values() for m in group.members.values()}
        for name, seen in past.targets.items():
            if name in members:
                members[name].exercised.update(seen["exercised"])
                members[name].tally = Tally(**seen["tally"])
        for key, bucket in past.buckets:
            self._intake.recall(key, bucket)
        for finding in past.candidates.values():
            for _ in self._intake.propose(finding):
                pass
        self._intake.recall_counts(past.counts)  # last: what is met again is counted again

    def _replay(self) -> Iterator[Event]:
        """Run the corpus first: what is known must be seen again, or be fixed."""
        for record in self._memory.corpus():
            group = self._groups.get(record.exhibit.library)
            targets = [] if group is None else group.targets_with(record.exhibit.api)
            if targets:
                self._replays[record.fingerprint] = (record, {}, targets)
            for target in targets:
                case = encode(record.exhibit.case)
                self._dispatcher.add(Job(target, (_REPLAY, record.fingerprint), (case,)))
        while self._replays and time.monotonic() < self._budget.explore_until:
            yield from self._turn()
        yield self._finish_stage("replay")

    def _explore(self) -> Iterator[Event]:
        while time.monotonic() < self._budget.explore_until:
            for stream in self._streams.values():
                stream.fill(self._dispatcher)
                for executed in stream.completed():
                    yield from self._judge(stream, executed)
            if all(stream.is_exhausted for stream in self._streams.values()):
                if self._config.max_cases:
                    self._explored_in_s = self._budget.elapsed_s
                break
            if not any(group.running for group in self._groups.values()):
                break
            yield from self._turn(is_patient=True)
        yield self._finish_stage("explore")

    def _confirm(self) -> Iterator[Event]:
        """Settle what waits; batches still under way are taken if they come in time."""
        self._dispatcher.clear_queue()
        while not self._confirmer.is_idle and time.monotonic() < self._budget.confirm_until:
            yield from self._turn()
        yield self._finish_stage("confirm")

    def _minimise(self) -> Iterator[Event]:
        """Simplify what is new, the gravest first; each variant of a hang costs its whole limit."""
        new = [
            bucket
            for bucket in self._intake.confirmed.sorted()
            if bucket.fingerprint not in self._memory.fingerprints
        ]
        for bucket in sorted(new, key=lambda b: b.finding.oracle == "hang"):
            self._minimiser.propose(bucket.fingerprint, bucket.finding)
        while not self._minimiser.is_idle and time.monotonic() < self._budget.minimise_until:
            self._minimiser.pump()
            yield from self._turn()
        self._minimiser.abandon()
        yield self._finish_stage("minimise")

    def _conclude(self, *, interrupted: bool) -> Iterator[Event]:
        for _ in self._intake.settle(self._confirmer.abandon()):
            pass
        self._note(force=True)
        self._keep_experience()
        members = [m for group in self._groups.values() for m in group.members.values()]
        conclusion = Conclusion(
            config=self._config,
            memory=self._memory,
            dispatcher=self._dispatcher,
            budget=self._budget,
            members={member.name: member for member in members},
            replayed=self._replayed,
            explored={stream.name: stream.done for stream in self._streams.values()},
            explored_in_s=self._explored_in_s,
            used=self._used,
            interrupted=interrupted,
        )
        finished = yield from conclude(conclusion, self._intake.buckets())
        yield RunFinished(
            verdict=finished.verdict,
            exit_code=finished.exit_code,
            summary=finished.summary,
            targets=tuple(summary(member) for member in members),
            buckets=finished.buckets,
            stages=dict(self._budget.stages),
            apis_exercised={member.name: len(member.exercised) for member in members},
            parameters=self._parameters(),
        )

    # --- one turn of the loop -------------------------------------------------------------------

    def _turn(self, *, is_patient: bool = False) -> Iterator[Event]:
        self._confirmer.pump(is_patient=is_patient)
        for result in self._dispatcher.wait(_WAIT_S):
            yield from self._route(result)
        yield from self._notice_failures()
        self._note()

    def _route(self, result: Result) -> Iterator[Event]:
        match result.job.key:
            case (Confirmer.KEY, _):
                yield from self._intake.settle(self._confirmer.take(result))
            case (Minimiser.KEY, _):
                for finding in self._minimiser.take(result):
                    self._intake.simplify(finding)
            case ("replay", str(fingerprint)):
                yield from self._take_replay(fingerprint, result)
            case (Stream.KEY, str(name), _):
                stream = self._streams[name]
                for executed in stream.take(result):
                    yield from self._judge(stream, executed)
            case key:
                msg = f"a result of nobody's job: {key!r}"
                raise AssertionError(msg)

    def _take_replay(self, fingerprint: str, result: Result) -> Iterator[Event]:
        if fingerprint not in self._replays:
            return  # another of its targets failed meanwhile
        record, outcomes, targets = self._replays[fingerprint]
        outcomes[result.job.target] = result.outcomes[0]
        if len(outcomes) < len(targets):
            return
        del self._replays[fingerprint]
        self._replayed[fingerprint] = frozenset(targets)
        group = self._groups[record.exhibit.library]
        in_order = {name: (outcomes[name],) for name in targets}
        executed = Executed(record.exhibit.api, (record.exhibit.case,), in_order)
        yield from self._count(group, executed)
        yield from self._intake.take(executed, group)

    def _judge(self, stream: Stream, executed: Executed) -> Iterator[Event]:
        """Judge a batch, then say what came of it: an interruption comes between two batches."""
        judged = list(self._intake.take(executed, stream.group))
        counted = list(self._count(stream.group, executed))
        stream.mark_judged()
        yield from (*counted, *judged)

    def _count(self, group: Group, executed: Executed) -> Iterator[Event]:
        for name, outcomes in executed.outcomes.items():
            kinds = Counter(map(type, outcomes))
            counts = {kind.__name__.lower(): count for kind, count in kinds.items()}
            group.members[name].count(executed.api, counts)
            yield BatchFinished(
                target=name,
                api=executed.api,
                counts=counts,
                elapsed_s=self._budget.elapsed_s,
            )

    def _notice_failures(self) -> Iterator[Event]:
        for group in self._groups.values():
            for member in group.members.values():
                reason = self._dispatcher.failure(member.name)
                if not reason:
                    continue
                # Every time: batches that had run before are judged later, and bring candidates.
                yield from self._intake.settle(self._confirmer.abandon(member.name))
                self._minimiser.abandon(member.name)
                if not member.not_run:
                    member.not_run = reason
                    self._give_up_replays(member.name)
                    yield TargetUnavailable(target=member.name, reason=reason)

    def _give_up_replays(self, target: str) -> None:
        for fingerprint, (_, _, targets) in list(self._replays.items()):
            if target in targets:
                del self._replays[fingerprint]

    def _note(self, *, force: bool = False) -> None:
        """Write down how far the run is, about once a second."""
        now = time.monotonic()
        if not force and now - self._noted_at < _NOTE_EVERY_S:
            return
        self._noted_at = now
        members = [m for group in self._groups.values() for m in group.members.values()]
        targets: dict[str, Any] = {
            m.name: {"tally": m.tally.as_dict(), "exercised": sorted(m.unnoted)} for m in members
        }
        for member in members:
            member.unnoted.clear()
        streams = {stream.name: stream.state() for stream in self._streams.values()}
        self._journal.progress(
            self._budget.elapsed_s,
            streams=streams,
            targets=targets,
            counts=self._intake.counts,
            lessons={stream.name: stream.new_lessons() for stream in self._streams.values()},
        )
