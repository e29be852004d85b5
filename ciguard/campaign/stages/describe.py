"""The first stage: targets are started and described, streams made, an earlier part taken up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.factory import StreamFactory
from ciguard.campaign.known_before import known_before, run_parameters
from ciguard.campaign.planned import focus_warning
from ciguard.campaign.setup import divide_cases, documentation_of, start_groups, streams_of
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stages.suspects import comparable
from ciguard.domain.findings import Tally
from ciguard.errors import WorkerStartError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.targets import Environment


class Describe(CampaignStage):
    """Makes environments into groups and streams that can run."""

    name = "describe"

    def __init__(self, state: CampaignState, environments: Mapping[str, Environment]) -> None:
        """Prepare a run.

        Args:
            state: of the run.
            environments: by target, those of the base before those of the head.
        """
        self._state = state
        self._environments = environments

    def run(self, turns: Turns) -> Iterator[Event]:
        """Start everything.

        Raises:
            WorkerStartError: if a target cannot be started.
            ConfigurationError: if a level has nothing to test.
        """
        del turns
        state = self._state
        yield from self._start_groups()
        yield from self._make_streams()
        yield from focus_warning(state.groups, state.config)
        self._recall()
        if state.config.policy.reads_documentation and state.config.shard.index == 1:
            for event in documentation_of(state.groups):
                state.documentation += event.findings
                yield event

    def _start_groups(self) -> Generator[Event, None, None]:
        state = self._state
        groups = yield from start_groups(self._environments, state.config, state.dispatcher)
        state.groups.update(groups)
        state.budget.measures = any(comparable(group.names, group) for group in groups.values())
        state.budget.spans_libraries = len(groups) > 1
        state.budget.attributes = bool(state.config.base)
        failures = [m.not_run for m in state.members.values() if m.not_run]
        if failures:
            raise WorkerStartError("\n".join(failures))

    def _make_streams(self) -> Generator[Event, None, None]:
        state = self._state
        factory = StreamFactory(
            config=state.config,
            groups=state.groups,
            dispatcher=state.dispatcher,
            lanes=max(1, state.config.jobs),
            choose=self._known_before,
        )
        streams = yield from streams_of(factory)
        divide_cases(streams, state.config.max_cases)
        for stream in streams:
            state.streams[stream.name] = stream
            if not stream.last:
                total_s = state.config.budget_s * state.config.shard.of
                stream.last = state.memory.frontier.last(stream.name, total_s)

    def _known_before(self, group: Group, name: Callable[[str], str]) -> Snapshot:
        used = self._state.used
        if group.library not in used:
            used[group.library] = known_before(self._state, group, name)
        return used[group.library]

    def _recall(self) -> None:
        """Take up what an earlier part of the same campaign has left."""
        state, past = self._state, self._state.past
        if state.config.resume:
            state.journal.resume()
        else:
            state.journal.start(run_parameters(state))
        for name, stream in past.streams.items():
            if name in state.streams:
                state.streams[name].continue_from(stream)
                state.streams[name].lessons.recall(past.lessons.get(name, ()))
        members = state.members
        for name, seen in past.targets.items():
            if name in members:
                members[name].exercised.update(seen["exercised"])
                members[name].tally = Tally(**seen["tally"])
        for key, bucket in past.buckets:
            state.intake.recall(key, bucket)
        for finding in past.candidates.values():
            for _ in state.intake.propose(finding):
                pass
        state.intake.recall_counts(past.counts)  # last: what is met again is counted again
