"""The dispatcher: many jobs over the workers of many targets, in one thread.

dispatcher.add(Job(...))            as often as wanted
for result in dispatcher.wait(1.0): …
"""

from __future__ import annotations

import os
import re
import selectors
import tempfile
import time
from collections import deque
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from ciguard.errors import WorkerStartError
from ciguard.execution.errands import Errands
from ciguard.execution.process import ServerProcess
from ciguard.execution.reports import ChildDied, Forked
from ciguard.execution.station import Station
from ciguard.execution.worker.removal import remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from types import TracebackType

    from ciguard.execution.job import Job, JobResult
    from ciguard.execution.lane import Lane
    from ciguard.execution.spec import WorkerSpec

T = TypeVar("T")

_SCRATCH = "ciguard-"
_PROCESS = re.compile("[0-9]{1,9}")
_TICK_S = 0.1


class Dispatcher:
    """Runs jobs on every target's workers and survives whatever they do."""

    def __init__(self, *, lanes: int = 1) -> None:
        """Make a dispatcher with `lanes` workers per target; targets are added by `start`."""
        self._lanes = lanes
        self._stations: dict[str, Station] = {}
        self._selector = selectors.DefaultSelector()
        sweep_abandoned(Path(tempfile.gettempdir()))
        self.scratch = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH}{os.getpid()}-"))
        """Folder of everything that the workers write; removed by `close`."""
        self._next_check = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def start(self, specs: Iterable[WorkerSpec]) -> dict[str, ServerProcess | WorkerStartError]:
        """Start the fork servers of several targets side by side and wait for all.

        Returns:
            By target name: the server, or why there is none.
        """
        starting = [ServerProcess(spec, scratch=self.scratch) for spec in specs]
        started: dict[str, ServerProcess | WorkerStartError] = {}
        for server in starting:
            name = server.spec.name
            try:
                server.wait_ready()
            except WorkerStartError as error:
                server.stop()
                started[name] = error
                continue
            station = Station(server, self._selector)
            for _ in range(self._lanes):
                station.add_lane()
            self._stations[name] = station
            self._selector.register(server.control, selectors.EVENT_READ, station)
            started[name] = server
        return started

    def add(self, job: Job, *, urgent: bool = False) -> None:
        """Queue a job; urgent ones overtake the others, in a lane of their own.

        A target that failed takes no more jobs: see `failure`.
        """
        station = self._stations[job.target]
        station.requested += len(job.cases)
        if station.failed:
            return
        (station.urgent if urgent else station.queue).append(job)
        self._assign(station)

    def clear_queue(self) -> None:
        """Drop the jobs that are neither urgent, careful nor running."""
        for station in self._stations.values():
            station.queue = deque(job for job in station.queue if job.is_careful)

    def prove(self) -> bool:
        """Let the workers that have nothing to do prove their results, see `canaries`.

        Returns:
            Whether every result so far is proven; those that never will be are in `take_void`.
        """
        running = [station for station in self._stations.values() if not station.failed]
        for station in running:
            for lane in station.every_lane:
                lane.prove()
        return all(lane.is_proven for station in running for lane in station.every_lane)

    def unproven(self) -> set[tuple[str, Hashable]]:
        """Return target and key of every job whose results were handed on and are not proven."""
        lanes = [lane for station in self._stations.values() for lane in station.every_lane]
        jobs = [job for lane in lanes for job in (*lane.ledger.unproven, *lane.ledger.void)]
        return {(job.target, job.key) for job in jobs}

    def take_void(self) -> list[Job]:
        """Return the jobs whose results turned out to be worth nothing since the last call."""
        lanes = [lane for station in self._stations.values() for lane in station.every_lane]
        void = [job for lane in lanes for job in lane.ledger.void]
        for lane in lanes:
            lane.ledger.void.clear()
        return void

    def waiting(self, target: str) -> int:
        """Return how many jobs of a target are queued or running."""
        return self._stations[target].waiting

    def requested(self, target: str) -> int:
        """Return how many cases a target was ever given, whatever became of them."""
        return self._stations[target].requested

    @property
    def is_idle(self) -> bool:
        """Whether no job is queued or running."""
        return not any(station.waiting for station in self._stations.values())

    def failure(self, target: str) -> str:
        """Return why a target's workers cannot run any more; empty while they can."""
        return self._stations[target].failed

    def _assign(self, station: Station) -> None:
        while not station.failed and (assignment := station.next_assignment()):
            lane, job = assignment
            self._guard(station, partial(lane.give, job))

    def _guard(self, station: Station, action: Callable[[], T]) -> T | None:
        """Do something with a station; a server that died makes the station fail, not the run."""
        try:
            return action()
        except WorkerStartError as error:
            station.failed = str(error)
            station.queue.clear()
            station.urgent.clear()
            self._selector.unregister(station.server.control)
            for lane in station.every_lane:
                lane.abandon()
            return None

    def wait(self, timeout_s: float) -> list[JobResult]:
        """Return the jobs that were completed, waiting up to `timeout_s` for the first."""
        deadline = time.monotonic() + timeout_s
        results: list[JobResult] = []
        while not results:
            now = time.monotonic()
            results += self._check(now)
            remaining_s = deadline - now
            if results or remaining_s < 0 or self.is_idle:
                break
            for key, events in self._selector.select(min(remaining_s, _TICK_S)):
                if events & selectors.EVENT_WRITE:
                    key.data[1].flush()
                result = self._hear(key.data)
                if result is not None:
                    results.append(result)
        return results

    def _hear(self, source: Station | tuple[Station, Lane]) -> JobResult | None:
        station, lane = (source, None) if isinstance(source, Station) else source
        if station.failed:  # meanwhile: by what was ready at the same time
            return None
        action = partial(self._news, station) if lane is None else lane.read
        result = self._guard(station, action)
        self._assign(station)
        return result

    def _news(self, station: Station) -> JobResult | None:
        report = station.server.report()
        for lane in station.every_lane:
            if isinstance(report, Forked) and report.ticket == lane.ticket:
                lane.adopt(report.pid)
                return None
            if isinstance(report, ChildDied) and report.pid == lane.pid:
                return lane.bury(report.death)
        if isinstance(report, Forked):  # its lane let go of it before it was reported
            station.server.dismiss(report.pid)
        return None

    def _check(self, now: float) -> list[JobResult]:
        if now < self._next_check:
            return []
        self._next_check = now + _TICK_S
        results: list[JobResult] = []
        for station in self._stations.values():
            if not station.failed:
                ended = self._guard(station, partial(station.check, now))
                if ended:
                    results += ended
                    self._assign(station)
        return results

    def errands(self, target: str) -> Errands:
        """Return what can be asked of a target while no job is under way."""
        return Errands(self._stations[target].server, scratch=self.scratch)

    def close(self) -> None:
        """End every worker and remove what they wrote."""
        for station in self._stations.values():
            for lane in station.every_lane:
                lane.close()
            station.server.request_end()  # all end side by side
        for station in self._stations.values():
            station.server.stop()
        self._stations.clear()
        self._selector.close()
        remove_tree(str(self.scratch))


def sweep_abandoned(folder: Path) -> None:
    """Remove the scratch folders of dispatchers that were killed: their process is gone.

    Never raise: what cannot be removed is no reason to refuse the next run.
    """
    names: list[str] = []
    with suppress(OSError):
        names = [path.name for path in folder.iterdir()]
    for name in names:
        process, dash, _ = name.removeprefix(_SCRATCH).partition("-")
        if (
            name.startswith(_SCRATCH)
            and dash
            and _PROCESS.fullmatch(process)
            and not Path("/proc", process).exists()
        ):
            remove_tree(str(folder / name))
