"""The stage of a campaign that tests functions of applications which call cognitive services.

Functions run in a separate process on each target, whose environment holds no secrets. The process
is confined like a worker before the application is imported.
"""

from __future__ import annotations

import fnmatch
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.events import BatchFinished, InputsMishandled, Warned
from ciguard.domain.text import visible
from ciguard.errors import WorkerStartError
from ciguard.levels.app.accuracy import assess, settings_for
from ciguard.levels.app.applications import LEVEL, read_applications
from ciguard.levels.app.calls import CallRecorder, process_environment_on
from ciguard.levels.app.checks import assessment_options
from ciguard.levels.app.coverage import Coverage
from ciguard.levels.app.dead_conditions import read_vocabulary
from ciguard.levels.app.exploration import explore
from ciguard.levels.app.findings import (
    TargetedApplication,
    of_answers,
    of_conditions,
    of_difference,
    of_inputs,
)
from ciguard.levels.app.recheck import Recheck, eager_members
from ciguard.levels.app.settings import APPLICATIONS, LABELS
from ciguard.oracles import pair_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign import Budget, Group, Member
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.levels.app.accuracy import Assessed
    from ciguard.levels.app.applications import ReadApplication
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.static_analysis import ServiceFunction
    from ciguard.targets import Environment

_MAX_S = 60.0
"""Time limit for the exploration of one function, and again for its assessment, in seconds."""
_MIN_S = 2.0
"""Minimum remaining time to start with a function, in seconds."""


@dataclass(slots=True)
class ApplicationStage:
    """Test applications on all targets, and record the coverage."""

    config: Config
    groups: Mapping[str, Group]
    budget: Budget
    stage: ClassVar[str] = "applications"
    gone: dict[str, frozenset[str]] = field(default_factory=dict)
    """Fingerprint of a known bucket that is gone → targets on which it is gone."""
    _coverage: Coverage = field(init=False)
    _idle: dict[str, str] = field(default_factory=dict)
    """Target → reason why its last function was not called."""

    def __post_init__(self) -> None:
        """Start with an empty coverage."""
        self._coverage = Coverage(self.config)

    def events(self, until: float) -> Iterator[Event | Finding]:
        """Test one function after the other, on each target.

        Args:
            until: the end of the time budget, by `time.monotonic`.

        Raises:
            ConfigurationError: if an application cannot be read any more.
        """
        applications = read_applications(self.config[APPLICATIONS])
        members = eager_members(self.groups)
        for read in applications:
            self._coverage.add(read)
            yield from _unread(read)
            for member in members[:1]:
                yield from self._conditions(read, member)
        turns = [(read, function) for read in applications for function in read.functions]
        shard = self.config.shard
        turns.sort(key=lambda turn: not self._is_first(*turn))
        own_turns = turns if shard.is_all else turns[shard.index - 1 :: shard.of]
        for index, (read, function) in enumerate(own_turns):
            left_s = until - time.monotonic()
            if left_s < _MIN_S:
                yield Warned(
                    message=f"level {LEVEL}: the time ended before {len(own_turns) - index} of "
                    f"{len(own_turns)} functions were tested: give a longer --budget"
                )
                return
            yield from self._test_function(
                read, function, members, left_s / (len(own_turns) - index)
            )

    def _is_first(self, read: ReadApplication, function: ServiceFunction) -> bool:
        """Return whether a function is in the focus of the campaign."""
        api = read.api(function)
        return any(fnmatch.fnmatchcase(api, glob) for glob in self.config.focus)

    def _conditions(self, read: ReadApplication, member: Member) -> Iterator[Finding]:
        if self.config.shard.index != 1:
            return
        labels = read_vocabulary(Path(self.config[LABELS])) if self.config[LABELS] else None
        yield from of_conditions(read.dead(labels).items(), read.on(member))

    def _test_function(
        self,
        read: ReadApplication,
        function: ServiceFunction,
        members: Sequence[Member],
        budget_s: float,
    ) -> Iterator[Event | Finding]:
        """Test a function on each target, and compare the targets."""
        explored_by_member: list[tuple[Member, ExploredFunction]] = []
        for member in members:
            half_s = min(_MAX_S, budget_s / 2 / len(members))
            try:
                explored, assessed = self._explore_and_assess(
                    read, function, member.environment, half_s
                )
            except WorkerStartError as error:
                yield Warned(message=f"{member.name}: {read.api(function)}: not tested: {error}")
                continue
            explored_by_member.append((member, explored))
            yield from self._report(read, member, explored, assessed)
        yield from _differences(read, explored_by_member)

    def _report(
        self,
        read: ReadApplication,
        member: Member,
        explored: ExploredFunction,
        assessed: Sequence[Assessed],
    ) -> Iterator[Event | Finding]:
        function, targeted = explored.function, read.on(member)
        if explored.problem:
            reason = visible(explored.problem)
            yield Warned(message=f"{member.name}: {read.api(function)}: not explored: {reason}")
            self._idle.setdefault(member.name, reason)
        yield from of_answers(
            explored, targeted, CallRecorder(read.application, function, explored.form)
        )
        for result in assessed:
            yield from of_inputs(result, targeted, read.functions)
            yield from _missed(result, targeted)
            self._coverage.add_judged(result, targeted)
        counts = _counts(explored, assessed)
        member.count((), counts)
        yield BatchFinished(
            target=member.name,
            api=targeted.api(function),
            counts=counts,
            elapsed_s=self.budget.elapsed_s,
        )

    def _explore_and_assess(
        self,
        read: ReadApplication,
        function: ServiceFunction,
        environment: Environment,
        half_s: float,
    ) -> tuple[ExploredFunction, list[Assessed]]:
        python, process_environment = str(environment.python), process_environment_on(environment)
        (explored,) = explore(
            read.application,
            [function],
            python=python,
            budget_s=half_s,
            process_environment=process_environment,
        )
        if explored.problem:
            return explored, []
        settings = settings_for(
            assessment_options(self.config, half_s, process_environment=process_environment)
        )
        return explored, list(
            assess(read.application, [function], [explored], settings, python=python)
        )

    def again(
        self, known: Iterable[BaselineRecord], met: Mapping[str, int], until: float
    ) -> Iterator[Event | Finding]:
        """Recheck known buckets that the run did not reproduce, and collect those that are gone.

        Args:
            known: the records of the baseline.
            met: the number of findings by fingerprint in this run.
            until: the end of the time budget, by `time.monotonic`.
        """
        recheck = Recheck(self.config, self.groups, self._coverage, self.gone)
        yield from recheck.events(known, met, until)
        if self.config.levels == (LEVEL,):
            self._give_up_idle()

    def _give_up_idle(self) -> None:
        """Mark targets on which no function could be called as not run."""
        for member in eager_members(self.groups):
            if member.name in self._idle and not member.tally.total:
                member.not_run = f"no function could be called: {self._idle[member.name]}"


def _unread(read: ReadApplication) -> Iterator[Event]:
    """Yield a warning for each file that could not be read."""
    targeted = TargetedApplication(root=read.root, library="", target="")
    for unread in read.application.unreadable_files:
        file, reason = visible(targeted.path(unread.file)), visible(unread.reason)
        yield Warned(message=f"{file}: cannot be read and is skipped: {reason}")


def _differences(
    read: ReadApplication, explored_by_member: Sequence[tuple[Member, ExploredFunction]]
) -> Iterator[Finding]:
    """Yield findings about functions that fail for every answer with one client version only.

    The failing call counts in the tally of its target.
    """
    reference_result = next(
        ((member, explored) for member, explored in explored_by_member if not explored.problem),
        None,
    )
    if reference_result is None:
        return
    reference, explored = reference_result
    function = explored.function
    answers = next(
        (answers for met in explored.answers_by_outcome.values() for answers in met.values()), ()
    )
    for member, failed in explored_by_member:
        is_same_library = member.environment.library == reference.environment.library
        if is_same_library and failed.constant_crash is not None:
            member.count((), {"errored": 1})
            yield of_difference(
                failed.constant_crash,
                function,
                read.on(member),
                CallRecorder(read.application, function, explored.form)(answers),
                reference=reference.name,
                pair=pair_kind(reference.identity, member.identity),
            )


def _missed(assessed: Assessed, targeted: TargetedApplication) -> Iterator[InputsMishandled]:
    """Yield the missed inputs of findings, for inspection by the user."""
    api = targeted.api(assessed.explored.function)
    for verdict in assessed.verdicts:
        if verdict.is_failure and not verdict.is_simulated and verdict.missed:
            yield InputsMishandled(
                target=targeted.target,
                api=api,
                line=verdict.goal.line,
                description=f"{verdict.goal.text}: {verdict.claim}, answered by {verdict.engine}",
                inputs=tuple(missed.shown() for missed in verdict.missed),
            )
    for crash, service_input in assessed.crashes:
        yield InputsMishandled(
            target=targeted.target,
            api=api,
            line=crash.line,
            description=f"fails: {crash.error}",
            inputs=(service_input.shown(),),
        )


def _counts(explored: ExploredFunction, assessed: Sequence[Assessed]) -> dict[str, int]:
    """Return the numbers of calls by outcome; empty if no call can be judged."""
    failed = len(explored.crashes) + len(explored.uncaught_refusals)
    hung = len(explored.hangs)
    ran = 0 if explored.problem else explored.runs + sum(result.trials for result in assessed)
    counts = {"passed": max(0, ran - failed - hung), "errored": failed, "hung": hung}
    return {name: count for name, count in counts.items() if count}
