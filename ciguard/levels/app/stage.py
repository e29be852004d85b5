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
from ciguard.levels.app.exploration import ONLY_CALLS_FUNCTIONS, explore
from ciguard.levels.app.findings import (
    TargetedApplication,
    answer_findings,
    condition_findings,
    difference_finding,
    input_findings,
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
    from ciguard.levels.app.accuracy import Assessment
    from ciguard.levels.app.applications import AnalysedApplication
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.static_analysis import ServiceFunction
    from ciguard.targets import Environment

_MAX_FUNCTION_S = 60.0
"""Time limit for the exploration of one function, and again for its assessment, in seconds."""
_MIN_REMAINING_S = 2.0
"""Minimum remaining time to start with a function, in seconds."""


@dataclass(slots=True)
class ApplicationStage:
    """Test all functions of the applications on all targets."""

    config: Config
    groups: Mapping[str, Group]
    budget: Budget
    stage: ClassVar[str] = "applications"
    gone: dict[str, frozenset[str]] = field(default_factory=dict)
    """Fingerprint of a known bucket that is gone → targets on which it is gone."""
    _coverage: Coverage = field(init=False)
    _call_problems: dict[str, str] = field(default_factory=dict)
    """Target → reason why a function was not called there; only the first one is kept."""

    def __post_init__(self) -> None:
        """Start with an empty coverage."""
        self._coverage = Coverage(self.config)

    def events(self, until: float) -> Iterator[Event | Finding]:
        """Test one function after another, each on all targets.

        Args:
            until: the end of the time budget, by `time.monotonic`.

        Raises:
            ConfigurationError: if an application cannot be read any more.
        """
        applications = read_applications(self.config[APPLICATIONS])
        members = eager_members(self.groups)
        for app in applications:
            self._coverage.add(app)
            yield from _unreadable_file_warnings(app)
            for member in members[:1]:
                yield from self._condition_findings(app, member)
        tasks = [(app, function) for app in applications for function in app.functions]
        shard = self.config.shard
        tasks.sort(key=lambda task: not self._is_in_focus(*task))
        shard_tasks = tasks if shard.is_whole_campaign else tasks[shard.index - 1 :: shard.of]
        for index, (app, function) in enumerate(shard_tasks):
            left_s = until - time.monotonic()
            if left_s < _MIN_REMAINING_S:
                yield Warned(
                    message=f"level `{LEVEL}`: {len(shard_tasks) - index} of {len(shard_tasks)} "
                    "functions were not tested, because the time ran out. Increase --budget."
                )
                return
            yield from self._test_function(
                app, function, members, left_s / (len(shard_tasks) - index)
            )

    def _is_in_focus(self, app: AnalysedApplication, function: ServiceFunction) -> bool:
        """Return whether a function is in the focus of the campaign."""
        api = app.api(function)
        return any(fnmatch.fnmatchcase(api, glob) for glob in self.config.focus)

    def _condition_findings(self, app: AnalysedApplication, member: Member) -> Iterator[Finding]:
        if self.config.shard.index != 1:
            return
        labels = read_vocabulary(Path(self.config[LABELS])) if self.config[LABELS] else None
        yield from condition_findings(
            app.constant_conditions(labels).items(), app.targeted_on(member)
        )

    def _test_function(
        self,
        app: AnalysedApplication,
        function: ServiceFunction,
        members: Sequence[Member],
        budget_s: float,
    ) -> Iterator[Event | Finding]:
        """Test a function on each target, and compare the targets."""
        explored_by_member: list[tuple[Member, ExploredFunction]] = []
        for member in members:
            half_s = min(_MAX_FUNCTION_S, budget_s / 2 / len(members))
            try:
                explored, assessments = self._explore_and_assess(
                    app, function, member.environment, half_s
                )
            except WorkerStartError as error:
                yield Warned(message=f"{member.name}: {app.api(function)}: not tested: {error}")
                continue
            explored_by_member.append((member, explored))
            yield from self._report(app, member, explored, assessments)
        yield from _difference_findings(app, explored_by_member)

    def _report(
        self,
        app: AnalysedApplication,
        member: Member,
        explored: ExploredFunction,
        assessments: Sequence[Assessment],
    ) -> Iterator[Event | Finding]:
        function, targeted = explored.function, app.targeted_on(member)
        if explored.problem and explored.problem != ONLY_CALLS_FUNCTIONS:
            reason = visible(explored.problem)
            yield Warned(message=f"{member.name}: {app.api(function)}: not explored: {reason}")
            self._call_problems.setdefault(member.name, reason)
        yield from answer_findings(
            explored, targeted, CallRecorder(app.application, function, explored.form)
        )
        for result in assessments:
            yield from input_findings(result, targeted, app.functions)
            yield from _mishandled_inputs(result, targeted)
            self._coverage.add_verdicts(result, targeted)
        counts = _counts(explored, assessments)
        member.count((), counts)
        yield BatchFinished(
            target=member.name,
            api=targeted.api(function),
            counts=counts,
            elapsed_s=self.budget.elapsed_s,
        )

    def _explore_and_assess(
        self,
        app: AnalysedApplication,
        function: ServiceFunction,
        environment: Environment,
        half_s: float,
    ) -> tuple[ExploredFunction, list[Assessment]]:
        python, process_environment = str(environment.python), process_environment_on(environment)
        (explored,) = explore(
            app.application,
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
            assess(app.application, [function], [explored], settings, python=python)
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
            self._mark_uncalled_targets()

    def _mark_uncalled_targets(self) -> None:
        """Mark targets on which no function could be called as not run."""
        for member in eager_members(self.groups):
            if member.name in self._call_problems and not member.tally.total:
                member.not_run = f"no function could be called: {self._call_problems[member.name]}"


def _unreadable_file_warnings(app: AnalysedApplication) -> Iterator[Event]:
    """Yield a warning for each file of an application that could not be read."""
    targeted = TargetedApplication(root=app.root, library="", target="")
    for unreadable in app.application.unreadable_files:
        file, reason = visible(targeted.path(unreadable.file)), visible(unreadable.reason)
        yield Warned(message=f"{file} was skipped, because it cannot be analysed: {reason}")


def _difference_findings(
    app: AnalysedApplication, explored_by_member: Sequence[tuple[Member, ExploredFunction]]
) -> Iterator[Finding]:
    """Yield a finding for each client version with which a function fails for every answer.

    Another version of the same client, with which the function does not fail, is the reference.
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
        (
            answers
            for outcomes in explored.answers_by_outcome.values()
            for answers in outcomes.values()
        ),
        (),
    )
    for member, failed in explored_by_member:
        is_same_library = member.environment.library == reference.environment.library
        if is_same_library and failed.constant_crash is not None:
            member.count((), {"errored": 1})
            yield difference_finding(
                failed.constant_crash,
                function,
                app.targeted_on(member),
                CallRecorder(app.application, function, explored.form)(answers),
                reference=reference.name,
                pair=pair_kind(reference.identity, member.identity),
            )


def _mishandled_inputs(
    assessment: Assessment, targeted: TargetedApplication
) -> Iterator[InputsMishandled]:
    """Yield the inputs that a function mishandled, for inspection by the user."""
    api = targeted.api(assessment.explored.function)
    for verdict in assessment.verdicts:
        if verdict.is_failure and not verdict.is_simulated and verdict.missed_inputs:
            yield InputsMishandled(
                target=targeted.target,
                api=api,
                line=verdict.goal.line,
                description=f"{verdict.goal.text}: {verdict.claim}, answered by {verdict.engine}",
                inputs=tuple(missed.shown() for missed in verdict.missed_inputs),
            )
    for crash, service_input in assessment.crashes:
        yield InputsMishandled(
            target=targeted.target,
            api=api,
            line=crash.line,
            description=f"fails: {crash.error}",
            inputs=(service_input.shown(),),
        )


def _counts(explored: ExploredFunction, assessments: Sequence[Assessment]) -> dict[str, int]:
    """Return outcome → number of calls; empty if no call can be judged."""
    failed = len(explored.crashes) + len(explored.uncaught_refusals)
    hung = len(explored.hangs)
    call_count = (
        0 if explored.problem else explored.runs + sum(result.trials for result in assessments)
    )
    counts = {"passed": max(0, call_count - failed - hung), "errored": failed, "hung": hung}
    return {name: count for name, count in counts.items() if count}
