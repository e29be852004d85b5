"""First stage: start and describe targets, create streams, and restore an interrupted run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.batches import UnknownProgressError
from ciguard.campaign.capacity import lanes_of
from ciguard.campaign.factory import StreamFactory
from ciguard.campaign.frontier import FRONTIER
from ciguard.campaign.initial_experience import initial_experience, run_parameters
from ciguard.campaign.journal import JOURNAL
from ciguard.campaign.levels import levels_in
from ciguard.campaign.planned import focus_warning
from ciguard.campaign.setup import divide_cases, documentation_of, start_groups, streams_of
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stages.suspects import comparable
from ciguard.domain.findings import Tally
from ciguard.errors import BaselineError, OutputError, WorkerStartError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.levels import VisitedLevel
    from ciguard.targets import Environment


class Describe(CampaignStage):
    """Creates the groups and streams of a run from its environments."""

    name = "describe"

    def __init__(self, state: CampaignState, environments: Mapping[str, Environment]) -> None:
        """Prepare the stage.

        Args:
            state: state of the run.
            environments: environments by target, those of the base first.
        """
        self._state = state
        self._environments = environments

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Start all targets, create all streams, and restore an interrupted run.

        Raises:
            WorkerStartError: if a target cannot be started.
            ConfigurationError: if a level has nothing to test.
        """
        del loop
        state = self._state
        yield from self._start_groups()
        yield from self._make_streams()
        yield from focus_warning(state.groups, state.config)
        self._restore()
        if state.config.policy.reads_documentation and state.config.shard.index == 1:
            for event in documentation_of(state.groups):
                state.documentation += event.findings
                yield event

    def _start_groups(self) -> Generator[Event, None, None]:
        state = self._state
        groups = yield from start_groups(
            self._environments, state.config, state.dispatcher, describes=self._needs_catalogue()
        )
        state.groups.update(groups)
        state.budget.measures = any(comparable(group.names, group) for group in groups.values())
        state.budget.spans_libraries = len(groups) > 1
        state.budget.attributes = bool(state.config.base)
        failures = [member.not_run for member in state.members.values() if member.not_run]
        if failures:
            raise WorkerStartError("\n".join(failures))

    def _needs_catalogue(self) -> bool:
        """Return whether a level of the run, or a known bucket to replay, calls APIs."""
        state = self._state
        known = (*state.corpus(), *state.corpus(is_flaky=True))
        return any(level.uses_catalogue for level in levels_in(state.config)) or any(
            record.representative.case.is_api_use for record in known
        )

    def _make_streams(self) -> Generator[Event, None, None]:
        state = self._state
        factory = StreamFactory(
            config=state.config,
            groups=state.groups,
            dispatcher=state.dispatcher,
            lanes=lanes_of(state.config),
            choose=self._choose_experience,
        )
        streams = yield from streams_of(factory)
        divide_cases(streams, state.config.max_cases)
        for stream in streams:
            state.streams[stream.name] = stream
            if not stream.batches.last:
                total_s = state.config.budget_s * state.config.shard.of
                try:
                    stream.batches.end_at(*state.baseline.frontier.last(stream.name, total_s))
                except UnknownProgressError as error:
                    msg = (
                        f"{state.baseline.store.folder / FRONTIER}: {error}. Restore it from "
                        "history or remove it."
                    )
                    raise BaselineError(msg) from error

    def _choose_experience(
        self, group: Group, level: VisitedLevel, name: Callable[[str], str]
    ) -> Snapshot:
        used = self._state.used
        if group.library not in used:
            used[group.library] = initial_experience(self._state, group, level, name)
        return used[group.library]

    def _restore(self) -> None:
        """Restore the state of the interrupted run, if this one resumes it."""
        state, resume_state = self._state, self._state.resume_state
        if state.config.resume:
            state.journal.resume()
        else:
            state.journal.start(run_parameters(state))
        for name, stream in resume_state.streams.items():
            if name in state.streams:
                try:
                    feedback = resume_state.feedback.get(name, ())
                    state.streams[name].continue_from(stream, feedback)
                except UnknownProgressError as error:
                    msg = (
                        f"{state.config.out / JOURNAL}: {error}. The library or the settings have "
                        "changed; start a new run without --resume."
                    )
                    raise OutputError(msg) from error
        members = state.members
        for name, target in resume_state.targets.items():
            if name in members:
                members[name].exercised.update(target["exercised"])
                members[name].tally = Tally(**target["tally"])
        for key, bucket in resume_state.buckets:
            state.collector.restore(key, bucket)
        for finding in resume_state.candidates.values():
            for _ in state.collector.propose(finding):
                pass
        state.collector.restore_counts(
            resume_state.counts
        )  # last, as proposing findings counts them
