"""Exploring stage: the streams of all levels run batches while there is time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.capacity import usable_cores
from ciguard.campaign.levels import level_of
from ciguard.campaign.stages.counting import counted
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stream import ExecutedBatch, Stream
from ciguard.domain.events import FirstPassFinished, Warned
from ciguard.domain.text import visible
from ciguard.interrupts import held
from ciguard.levels import excluded_by_tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult

_MAX_WARNINGS = 20
"""Maximum number of functions for which a warning states why they were not tested."""


class ExploreAgain(CampaignStage):
    """Explores again in the time that measuring and comparing libraries have not used."""

    name = "explore"

    def __init__(self, explore: Explore) -> None:
        """Take the stage that explored first, which also owns the jobs."""
        self._explore = explore

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Run further batches."""
        return self._explore.run_again(loop)


class Explore(CampaignStage):
    """Runs the streams, and judges their batches."""

    name = "explore"
    keys = (Stream.KEY,)

    def __init__(
        self,
        state: CampaignState,
        *,
        watchers: Sequence[Callable[[ExecutedBatch, Group], object]] = (),
    ) -> None:
        """Prepare the stage.

        Args:
            state: state of the run.
            watchers: functions that are called with every judged batch.
        """
        self._state = state
        self._watchers = watchers
        self._first_passes: set[str] = set()
        """Names of the streams that have not called every API yet."""
        self._visiting: set[str] = set()
        """Names of the streams that visit each API separately."""
        self._cores = usable_cores()

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Run batches until the time is over, or there are no more batches.

        Exploring goes on after its time while the stages after it have little to do, and ends
        before if they need more than their shares.
        """
        state = self._state
        self._first_passes = {
            name for name, stream in state.streams.items() if stream.batches.unvisited
        }
        self._visiting = {name for name, stream in state.streams.items() if stream.batches.apis}
        streams, until = list(state.streams.values()), state.budget.explore_until
        has_cases = any(not stream.is_exhausted for stream in streams)
        state.is_late = has_cases and time.monotonic() >= until
        latest = state.budget.explore_latest
        most_s = state.budget.most_overtime_s

        def may_continue() -> bool:
            begun = time.monotonic() < until - min(loop.overtime_s, most_s)
            return begun or self._may_continue(loop, latest)

        yield from self._explore(loop, may_continue)

    def run_again(self, loop: EventLoop) -> Iterator[Event]:
        """Run further batches in the time that later stages left; warn of what was not tested."""
        latest = self._state.budget.explore_again_until
        for stream in self._state.streams.values():
            stream.reopen()
        yield from self._explore(loop, lambda: self._may_continue(loop, latest))
        yield from self._unfinished_passes()
        yield from self._untested_functions()

    def _explore(self, loop: EventLoop, may_continue: Callable[[], bool]) -> Iterator[Event]:
        """Run batches while there are any and the time allows."""
        state = self._state
        streams = list(state.streams.values())
        while may_continue():
            for stream in streams:
                if not self._gives_way(stream):
                    stream.fill(state.dispatcher)
                for executed in stream.completed():
                    yield from self._judge(stream, executed)
            if all(stream.is_exhausted for stream in streams):
                if state.config.max_cases:
                    state.explored_in_s = state.budget.elapsed_s
                break
            if not any(group.running for group in state.groups.values()):
                break
            yield from loop.step(is_exploring=True)
        for stream in streams:
            stream.drop_parked()
            for executed in stream.completed():
                yield from self._judge(stream, executed)

    def _untested_functions(self) -> Iterator[Warned]:
        """Warn of the user's functions that were never called with valid arguments."""
        for stream in self._state.streams.values():
            reasons = stream.called.reasons()
            untested = [(n, reasons[n]) for n in stream.called.functions if reasons[n]]
            for name, reason in untested[:_MAX_WARNINGS]:
                yield Warned(message=f"NOT TESTED: {visible(name)}: {reason}")
            if len(untested) > _MAX_WARNINGS:
                yield Warned(message=f"NOT TESTED: {len(untested) - _MAX_WARNINGS} more functions")

    def _gives_way(self, stream: Stream) -> bool:
        """Return whether a stream waits until others have called every API, with all cores."""
        if stream.name not in self._visiting or stream.batches.is_first_pass:
            return False
        streams = self._state.streams.values()
        lanes = sum(other.lanes for other in streams if other.batches.is_first_pass)
        return lanes >= self._cores

    def _may_continue(self, loop: EventLoop, latest: float) -> bool:
        """Return whether the other stages can complete their work later.

        Args:
            loop: event loop of the run.
            latest: deadline of exploring, on the clock of `time.monotonic`.
        """
        until = min(latest, self._state.budget.minimise_until - loop.needed_s)
        return time.monotonic() < until - loop.overtime_s

    def _unfinished_passes(self) -> Iterator[Warned]:
        """Warn of APIs that were not called although the run has no limit of cases."""
        for stream in self._state.streams.values():
            if stream.dropped_cases:
                yield Warned(
                    message=f"{stream.group.library}: {stream.dropped_cases:,} slow cases were not "
                    "run again in time, and are not judged."
                )
        for stream in () if self._state.config.max_cases else self._state.streams.values():
            if stream.batches.unvisited and not stream.batches.is_at_end:
                message = (
                    f"{stream.group.library}: {stream.batches.unvisited:,} of "
                    f"{stream.batches.apis:,} selected APIs were not called in time. Raise "
                    "--budget."
                )
                yield Warned(message=message)

    def take(self, result: JobResult) -> Iterator[Event]:
        """Add a result, even after the stage has ended, and judge the complete batches."""
        match result.job.key:
            case (Stream.KEY, str(name), _):
                stream = self._state.streams[name]
                for executed in stream.take(result):
                    yield from self._judge(stream, executed)
            case key:
                raise AssertionError(key)

    def _judge(self, stream: Stream, executed: ExecutedBatch) -> Iterator[Event]:
        """Judge a batch without interruption, then yield its events."""
        state, group = self._state, stream.group
        with held():
            findings: list[Event] = []
            if not state.investigations.note(executed, group):
                findings += state.collector.take(executed, group)
            counts = list(counted(executed, group, elapsed_s=state.budget.elapsed_s))
            for watch in self._watchers:
                watch(executed, group)
            stream.mark_judged()
        reported = level_of(executed.level).events_of(executed)
        yield from (*counts, *reported, *findings)
        if stream.name in self._first_passes and not stream.batches.unvisited:
            self._first_passes.remove(stream.name)
            config = state.config
            yield FirstPassFinished(
                library=group.library,
                apis=stream.batches.apis,
                excluded=excluded_by_tag(
                    group.records(), config.api, config.exclude, allow=config.allow
                ),
                elapsed_s=state.budget.elapsed_s,
            )
