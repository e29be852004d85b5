"""The loop that ties the rooms together, inside a time box."""

from __future__ import annotations

import errno
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from ciguard.baseline import current, find_record, histories
from ciguard.campaign.budget import Budget
from ciguard.campaign.conclude import Conclusion, conclude, load_memory
from ciguard.campaign.experience import ExperienceStore, Snapshot, note_used, recall_used
from ciguard.campaign.factory import StreamFactory
from ciguard.campaign.journal import Journal, Past, read_journal, set_aside
from ciguard.campaign.levels import check_levels, levels_in
from ciguard.campaign.output_lock import sole_writer
from ciguard.campaign.own_part import forget_part, part_of
from ciguard.campaign.parameters import parameters_of, resumed
from ciguard.campaign.planned import focus_warning, is_batch, planned, row_warning
from ciguard.campaign.provisioning import provision_targets
from ciguard.campaign.scripts import sites_of, try_scripts
from ciguard.campaign.setup import (
    divide_cases,
    documentation_of,
    start_groups,
    streams_of,
    summary,
)
from ciguard.campaign.stages.dating import dated
from ciguard.campaign.stages.suspects import comparable
from ciguard.campaign.stages.tracing import traced
from ciguard.campaign.standing import standing_of
from ciguard.campaign.turns import Turns
from ciguard.domain import (
    DocumentationFinding,
    Event,
    Explored,
    Finding,
    PairKind,
    RunFinished,
    RunStarted,
    StageFinished,
    Tally,
    Warned,
)
from ciguard.errors import OutputError, WorkerStartError
from ciguard.execution import Dispatcher
from ciguard.oracles import is_measured, traits_of
from ciguard.triage import first_of_each_cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.baseline import BaselineRecord, BaselineStore
    from ciguard.campaign.conclude import Intends, Memory
    from ciguard.campaign.group import Group
    from ciguard.campaign.history import Publishing
    from ciguard.config import Config
    from ciguard.domain import Bucket
    from ciguard.targets import Environment

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Workers need temporary files, so a full disk may show itself anywhere."""
_MAX_WAITING = 0.3
"""Of the time for measuring: until everything else has ended."""
EXPERIENCE = "experience"
"""Key of the parameters: which snapshots of what was learned the run began with."""


def run(
    config: Config,
    *,
    store: BaselineStore | None = None,
    intends: Intends | None = None,
    publishing: Publishing | None = None,
) -> Iterator[Event]:
    """Run a campaign.

    The last event is `RunFinished`, also after an interruption: a KeyboardInterrupt, raised here or
    thrown in, ends the run with what was found so far.

    Args:
        config: what to run.
        store: of the baseline, if it is open already.
        intends: decides what is to be done about what is found, before the baseline is written.
        publishing: what is shown of the baseline beside it.

    Raises:
        CiguardError: before anything runs, if targets, baseline or output folder are unusable;
            while it runs, if results cannot be written.
    """
    past = read_journal(config.out) if config.resume else Past()
    was_empty = config.resume and not past.parameters
    if was_empty:
        config = replace(config, resume=False)
    if config.resume:
        config = resumed(config, past.parameters)
    plan, config = planned(config)
    check_levels(config)
    memory = load_memory(config, store=store, intends=intends, publishing=publishing)
    yield RunStarted(
        targets=(*config.base, *config.targets),
        levels=config.levels,
        seed=config.seed,
        budget_s=config.budget_s,
        jobs=max(1, config.jobs),
        out=str(config.out),
        resumed=config.resume,
        shard=config.shard,
        plan=plan,
    )
    if was_empty:
        yield Warned(message="The run to resume was killed before it did anything: started afresh.")
    yield from row_warning(plan, config)
    began = time.monotonic()
    # What is deviating is the head: the first target is the reference of the others.
    environments = yield from provision_targets((*config.base, *config.targets))
    yield StageFinished(stage="provision", spent_s=time.monotonic() - began)
    try:
        with ExitStack() as stack:
            stack.enter_context(sole_writer(config.out))
            if not config.resume:
                forget_part(config.out)
                set_aside(config.out)
            journal = stack.enter_context(Journal(config.out))
            dispatcher = stack.enter_context(Dispatcher(lanes=max(1, config.jobs)))
            campaign = _Campaign(config, memory, past, dispatcher=dispatcher, journal=journal)
            campaign.dates = is_batch(plan, config) and not memory.is_first
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
        self._turns = Turns(
            config,
            known=memory.fingerprints,
            dispatcher=dispatcher,
            journal=journal,
            budget=self._budget,
        )
        self._explored_in_s = config.budget_s
        self._base: tuple[str, ...] = ()
        """Names of the base's targets."""
        self._is_late = False
        """Whether the time for cases was over before the first one."""
        self.dates = False
        """Whether what is new is bisected over releases."""
        self._used: dict[str, Snapshot] = {}
        """What was known from outcomes when the run began, by library."""
        self._documentation: list[DocumentationFinding] = []
        groups = self._turns.groups
        made = [level.direct(config, groups, self._budget) for level in levels_in(config)]
        self._direct = [tests for tests in made if tests is not None]

    def events(self, environments: Mapping[str, Environment]) -> Iterator[Event]:
        """Go through all stages; the last event is `RunFinished`."""
        interrupted = False
        self._base = tuple(environments)[: len(self._config.base)]  # provided before the head's
        try:
            yield from self._prepare(environments)
            yield from self._replay()
            yield from self._try_directly()
            yield from self._explore()
            yield from self._cross_libraries()
            yield from self._measure()
            yield from self._confirm()
            yield from self._minimise()
            yield from self._attribute()
            yield from self._trace()
            yield from self._date()
        except KeyboardInterrupt:
            interrupted = True
        yield from self._conclude(interrupted=interrupted)

    def _finish_stage(self, name: str) -> Event:
        return StageFinished(stage=name, spent_s=self._budget.finish_stage(name))

    def _prepare(self, environments: Mapping[str, Environment]) -> Iterator[Event]:
        groups = yield from start_groups(environments, self._config, self._dispatcher)
        self._turns.groups.update(groups)
        self._budget.measures = any(comparable(group.names, group) for group in groups.values())
        self._budget.spans_libraries = len(groups) > 1
        self._budget.attributes = bool(self._config.base)
        failures = [m.not_run for g in groups.values() for m in g.members.values() if m.not_run]
        if failures:
            raise WorkerStartError("\n".join(failures))
        lanes = max(1, self._config.jobs)
        factory = StreamFactory(
            config=self._config,
            groups=groups,
            dispatcher=self._dispatcher,
            lanes=lanes,
            choose=self._choose,
        )
        streams = yield from streams_of(factory)
        divide_cases(streams, self._config.max_cases)
        for stream in streams:
            self._turns.streams[stream.name] = stream
            if not stream.last:
                total_s = self._config.budget_s * self._config.shard.of
                stream.last = self._memory.frontier.last(stream.name, total_s)
        yield from focus_warning(groups, self._config)
        self._recall()
        if self._config.policy.reads_documentation and self._config.shard.index == 1:
            for event in documentation_of(groups):
                self._documentation += event.findings
                yield event
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
            store = ExperienceStore(
                environment,
                baseline=self._memory.store.folder,
                is_shared=not self._config.is_part,
            )
            used = store.choose(lambda digest: self._memory.frontier.knows(name(digest)))
            note_used(self._config.out, group.library, used)
        self._used[group.library] = used
        return used

    def _keep_experience(self) -> None:
        """Keep what was learned for the next campaign; a shard knows too little to replace that."""
        for library, group in self._turns.groups.items():
            learned = dict(self._used.get(library, Snapshot()).learned)
            for stream in self._turns.streams.values():
                if stream.group is group:
                    learned |= stream.lessons.everything()
            environment = next(iter(group.members.values())).environment
            ExperienceStore(environment, is_shared=not self._config.is_part).save(learned)

    def _parameters(self) -> dict[str, Any]:
        used = {library: snapshot.digest for library, snapshot in self._used.items()}
        return {**parameters_of(self._config), EXPERIENCE: used}

    def _recall(self) -> None:
        """Take up what an earlier part of the same campaign has left."""
        past = self._past
        if self._config.resume:
            self._journal.resume()
        else:
            self._journal.start(self._parameters())
        for name, state in past.streams.items():
            if name in self._turns.streams:
                self._turns.streams[name].continue_from(state)
                self._turns.streams[name].lessons.recall(past.lessons.get(name, ()))
        members = self._turns.members
        for name, seen in past.targets.items():
            if name in members:
                members[name].exercised.update(seen["exercised"])
                members[name].tally = Tally(**seen["tally"])
        for key, bucket in past.buckets:
            self._turns.intake.recall(key, bucket)
        for finding in past.candidates.values():
            for _ in self._turns.intake.propose(finding):
                pass
        self._turns.intake.recall_counts(past.counts)  # last: what is met again is counted again

    def _replay(self) -> Iterator[Event]:
        """Run the corpus first: what is known must be seen again, or be fixed."""
        # What takes more time or memory passes: that is met by measuring, in a stage of its own.
        # What differs between libraries is met by the calls of a stage of its own too.
        corpus = [*self._corpus(), *self._corpus(is_flaky=True)]
        self._turns.replays.start(
            record
            for record in corpus
            if not traits_of(record.exhibit.oracle).is_measured
            and record.exhibit.pair is not PairKind.LIBRARY
        )
        while not self._turns.replays.is_done and time.monotonic() < self._budget.explore_until:
            yield from self._turns.take()
        yield self._finish_stage("replay")

    def _corpus(self, *, is_flaky: bool = False) -> list[BaselineRecord]:
        """Return what this shard has to replay."""
        shard = self._config.shard
        return [r for r in self._memory.corpus(is_flaky=is_flaky) if shard.has(r.fingerprint)]

    def _try_directly(self) -> Iterator[Event]:
        """Run the levels that workers cannot run, each for as long as every other level has too."""
        intake = self._turns.intake
        for tests in self._direct:
            left_s = self._budget.explore_until - time.monotonic()
            until = time.monotonic() + left_s / len(self._config.levels)
            known = current(self._memory.records).values()
            for item in chain(
                tests.events(until), tests.again(known, intake.counts, self._budget.explore_until)
            ):
                if isinstance(item, Finding):
                    yield from intake.accept(item)
                else:
                    yield item
            self._turns.replays.passed |= tests.gone
            yield self._finish_stage(tests.stage)

    def _explore(self) -> Iterator[Event]:
        streams = self._turns.streams.values()
        has_cases = any(not stream.is_exhausted for stream in streams)
        self._is_late = has_cases and time.monotonic() >= self._budget.explore_until
        while time.monotonic() < self._budget.explore_until:
            for stream in self._turns.streams.values():
                stream.fill(self._dispatcher)
                for executed in stream.completed():
                    yield from self._turns.judge(stream, executed)
            if all(stream.is_exhausted for stream in self._turns.streams.values()):
                if self._config.max_cases:
                    self._explored_in_s = self._budget.elapsed_s
                break
            if not any(group.running for group in self._turns.groups.values()):
                break
            yield from self._turns.take(is_patient=True)
        yield self._finish_stage("explore")

    def _cross_libraries(self) -> Iterator[Event]:
        """Make calls that passed on one library on the others."""
        if not self._budget.spans_libraries:
            yield self._finish_stage("libraries")  # whoever shows progress waits for it
            return
        equivalents, until = self._turns.equivalents, self._budget.libraries_until
        self._dispatcher.clear_queue()
        equivalents.start(self._corpus())
        while not equivalents.is_idle and time.monotonic() < until:
            equivalents.pump()
            yield from self._turns.take()
        yield self._finish_stage("libraries")

    def _measure(self) -> Iterator[Event]:
        """Measure the calls of several targets against each other, while nothing else runs."""
        if not self._budget.measures:
            yield self._finish_stage("measure")
            return
        measurer, until = self._turns.measurer, self._budget.measure_until
        self._dispatcher.clear_queue()
        # A hang that is being confirmed may take long: then it has to be measured beside it.
        patience_until = until - (until - time.monotonic()) * (1 - _MAX_WAITING)
        measurer.propose(self._corpus(), self._turns.suspects.ranked())
        while not measurer.is_idle and time.monotonic() < until:
            if self._dispatcher.is_idle or time.monotonic() > patience_until:
                measurer.pump()
            yield from self._turns.take_quietly()
        yield from self._turns.intake.settle(measurer.abandon())
        yield self._finish_stage("measure")

    def _confirm(self) -> Iterator[Event]:
        """Settle what waits; batches still under way are taken if they come in time."""
        self._dispatcher.clear_queue()
        while not self._turns.is_settled and time.monotonic() < self._budget.confirm_until:
            yield from self._turns.take()
        self._turns.abandon_investigations()
        yield self._finish_stage("confirm")

    def _minimise(self) -> Iterator[Event]:
        """Simplify what is new, the gravest first; each variant of a hang costs its whole limit."""
        new = [
            bucket
            for bucket in self._turns.intake.confirmed.sorted()
            if bucket.fingerprint not in self._memory.fingerprints
            and not is_measured(bucket.finding)  # a simpler call takes less of everything
        ]
        for bucket in sorted(new, key=lambda b: traits_of(b.finding.oracle).takes_limit):
            self._turns.minimiser.propose(bucket.fingerprint, bucket.finding)
        while not self._turns.minimiser.is_idle and time.monotonic() < self._budget.minimise_until:
            self._turns.minimiser.pump()
            yield from self._turns.take()
        self._turns.minimiser.abandon()
        yield self._finish_stage("minimise")

    def _attribute(self) -> Iterator[Event]:
        """Try what one side of the change has shown on both sides.

        One bucket of each cause comes first, the gravest before the others: where time ends, no
        cause is left untried for the sake of another's second bucket.
        """
        if not self._config.base:
            return
        attributor, intake = self._turns.attributor, self._turns.intake
        known = self._memory.fingerprints
        for bucket in first_of_each_cause(intake.confirmed.sorted()):
            is_known = not known.isdisjoint((bucket.fingerprint, *bucket.aliases))
            if not is_known and bucket.attribution is None:
                attributor.propose(bucket, intake.cases.get(bucket.fingerprint, ()), self._base)
        while not attributor.is_idle and time.monotonic() < self._budget.attribute_until:
            attributor.pump()
            yield from self._turns.take_quietly()
        for key in attributor.abandon():
            intake.doubt(key)
        yield self._finish_stage("attribute")

    def _trace(self) -> Iterator[Event]:
        """Look at crashes with a debugger, where there is one."""
        until = self._budget.trace_until
        for bucket, stack in traced(
            self._untraced(), self._turns.members, self._config, until=until
        ):
            self._turns.intake.explain(bucket, stack)
        yield self._finish_stage("trace")

    def _date(self) -> Iterator[Event]:
        """Find since which release what is new shows; in long runs that others wait for less."""
        if not self.dates:
            return
        for bucket, onset in dated(self._unknown(), self._config, until=self._budget.date_until):
            self._turns.intake.date(bucket, onset)
        yield self._finish_stage("date")

    def _unknown(self) -> list[Bucket]:
        """Return what was confirmed and no record knows, the gravest first."""
        records = self._memory.records
        return [
            bucket
            for bucket in self._turns.intake.confirmed.sorted()
            if find_record(records, bucket.fingerprint, *bucket.aliases) is None
        ]

    def _untraced(self) -> list[Bucket]:
        """Return what was met and no debugger has seen; what is new comes first."""
        new, known = [], []
        for bucket in self._turns.intake.confirmed.sorted():
            record = find_record(self._memory.records, bucket.fingerprint, *bucket.aliases)
            if record is None:
                new.append(bucket)
            elif not record.native_stack:
                known.append(bucket)
        return [*new, *known]

    def _lower_the_void(self) -> None:
        """Let a target count as not run where void results were not replaced by proven ones."""
        members = self._turns.members
        for name, cases in self._turns.redoing.unsettled().items():
            if not members[name].not_run:
                members[name].not_run = (
                    f"the results of {cases:,} cases are void: their workers did not prove that "
                    "they can be trusted, and the cases were not run again in time"
                )

    def _late(self, targets: int) -> str:
        """Return why no case was run where preparing took all the time."""
        spent_s = sum(self._budget.stages.get(name, 0.0) for name in ("describe", "replay"))
        started = "the target" if targets == 1 else f"{targets} targets"
        return (
            f"preparing {started} took {spent_s:.0f} s, so of the budget of "
            f"{self._config.budget_s:g} s nothing was left for cases. Raise --budget"
        )

    def _conclude(self, *, interrupted: bool) -> Iterator[Event]:
        left = [*self._turns.confirmer.abandon(), *self._turns.measurer.abandon()]
        for _ in self._turns.intake.settle(left):
            pass
        self._turns.note(force=True)
        self._keep_experience()
        members = self._turns.members
        self._lower_the_void()
        yield from self._turns.redoing.totals()
        for group in self._turns.groups.values():
            yield from (Warned(message=text) for text in group.ill_built())
        for member in members.values():
            requested = self._dispatcher.requested(member.name)
            if member.tally.total or member.not_run:
                continue
            if requested:
                member.not_run = f"none of its {requested} cases was executed in time"
            elif self._is_late:
                member.not_run = self._late(len(members))
        targets = tuple(summary(member) for member in members.values())
        digests = {library: snapshot.digest for library, snapshot in self._used.items()}
        explored = {
            stream.name: Explored(
                batches=stream.done, learned=digests.get(stream.group.library, "")
            )
            for stream in self._turns.streams.values()
        }
        conclusion = Conclusion(
            config=self._config,
            memory=self._memory,
            budget=self._budget,
            targets=targets,
            base=self._base,
            sites=sites_of(members),
            trial=partial(
                try_scripts,
                members=members,
                dispatcher=self._dispatcher,
                until=self._budget.scripts_until,
                case_limit_s=self._config.case_limit_s,
            ),
            replayed=self._turns.replays.passed
            | self._turns.measurer.measured
            | self._turns.equivalents.replayed,
            shown=self._turns.replays.shown,
            shown_on=self._turns.intake.shown_on,
            explored={name: (far, self._explored_in_s) for name, far in explored.items()},
            used=list(self._used.items()),
            interrupted=interrupted,
        )
        finished = yield from conclude(conclusion, self._turns.intake.buckets())
        standing = standing_of(self._memory, targets, base=conclusion.base, now=datetime.now(UTC))
        end = RunFinished(
            verdict=finished.verdict,
            exit_code=finished.exit_code,
            summary=finished.summary,
            targets=targets,
            buckets=finished.buckets,
            stages=dict(self._budget.stages),
            history=histories(self._memory.records),
            apis_exercised={name: len(member.exercised) for name, member in members.items()},
            parameters=self._parameters(),
            baseline=standing,
        )
        part = part_of(conclusion, end, members, documentation=self._documentation)
        yield replace(end, parts=(part,))
