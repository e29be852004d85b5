"""One target and one worker, driven through the real engine: what several benchmarks share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from accounting import family_cpu_s

from ciguard.campaign.batches import IndexedBatches, VisitedBatches
from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.group import Group, groups_of
from ciguard.campaign.stream import Stream
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.execution import ServerProcess
from ciguard.levels import ApiShare, VisitedLevel
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.campaign.batches import BatchSource
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.levels import Level


def stream_of(level: Level | VisitedLevel, group: Group, *, apis: int) -> Stream:
    """Return a stream of a level for one worker: of visits in rounds, or in the order of index."""
    batches: BatchSource = (
        VisitedBatches(level, [ApiShare(1, level.apis)], seed=0)
        if isinstance(level, VisitedLevel)
        else IndexedBatches(level, apis=apis)
    )
    return Stream("api", batches, group, lanes=1)


class OneTarget:
    """A target's worker, its catalogue, and a clock that counts the CPU time of all of it."""

    def __init__(self, text: str, dispatcher: Dispatcher) -> None:
        self.environment = provision(parse_target(text), on_step=lambda _: None)
        self.name = self.environment.target.name
        self._dispatcher = dispatcher
        spec = worker_spec(self.name, self.environment, Config())
        started = dispatcher.start([spec])[self.name]
        if not isinstance(started, ServerProcess):
            raise started
        self._server = started.process_id
        self.records = catalogue(self.name, self.environment, dispatcher).known.records

    @property
    def library(self) -> str:
        """Name of the library under test."""
        return self.environment.library.name

    def cpu_s(self) -> float:
        """Return the CPU time of the orchestrator and of all workers so far."""
        return time.process_time() + family_cpu_s(self._server)

    def group(self) -> Group:
        """Return a group of this target alone."""
        group = groups_of({self.name: self.environment})[self.library]
        group.members[self.name].catalogue = self.records
        return group

    def run(
        self,
        level: Level | VisitedLevel,
        batches: int,
        *,
        apis: int,
        aside: Callable[[JobResult], bool] = lambda _: False,
    ) -> Iterator[ExecutedBatch]:
        """Run the first `batches` of a level that calls so many APIs in turn.

        Args:
            level: makes the batches.
            batches: how many; 0 for no end.
            apis: how many the level calls in turn.
            aside: takes the results of other jobs; true where a result was such.
        """
        yield from self.run_stream(stream_of(level, self.group(), apis=apis), batches, aside=aside)

    def run_stream(
        self,
        stream: Stream,
        batches: int,
        *,
        aside: Callable[[JobResult], bool] = lambda _: False,
    ) -> Iterator[ExecutedBatch]:
        """Run the first `batches` of a stream, see `run`."""
        stream.batches.last = batches
        while not stream.is_exhausted:
            stream.fill(self._dispatcher)
            yield from stream.completed()  # batches that were skipped need no result
            for result in self._dispatcher.wait(1.0):
                if not aside(result):
                    yield from stream.take(result)
