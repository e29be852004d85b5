"""The dispatcher: many jobs over the workers of many targets, in one thread.

dispatcher.add(Job(...))            as often as wanted
for result in dispatcher.wait(1.0): …
"""

from __future__ import annotations

import json
import os
import re
import selectors
import tempfile
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ciguard.errors import WorkerStartError
from ciguard.execution.decode import Death, contents, decode_death, excerpt
from ciguard.execution.described_models import MAX_BYTES, failure, read_record
from ciguard.execution.lane import Lane
from ciguard.execution.process import ServerProcess
from ciguard.execution.reports import Died, Forked
from ciguard.execution.worker.removal import remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from ciguard.domain import Json, Outcome
    from ciguard.execution.job import Job, Result
    from ciguard.execution.spec import WorkerSpec

T = TypeVar("T")

_SCRATCH = "ciguard-"
_PROCESS = re.compile("[0-9]{1,9}")
_TICK_S = 0.1
_READ_AND_WRITE = selectors.EVENT_READ | selectors.EVENT_WRITE
_NEWS_S = 1.0
_DESCRIBE_S = 600.0
_MODEL_S = 120.0


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """How a script ended."""

    exit_code: int | None
    """None when it did not end by itself."""
    death: Outcome | None
    """The outcome that its death stands for; None when it ended with code 0 or 1."""
    log: str


class _Station:
    """One target: its server, its lanes, and the jobs that wait for them.

    Urgent jobs have a lane of their own: they need fresh workers, and the others keep their warm
    ones and go on while an urgent job hangs.
    """

    def __init__(self, server: ServerProcess, selector: selectors.BaseSelector) -> None:
        self.server = server
        self._selector = selector
        self.lanes: list[Lane] = []
        self.urgent_lane = self._new_lane()
        self.queue: deque[Job] = deque()
        self.urgent: deque[Job] = deque()
        self.failed = ""
        self.requested = 0

    @property
    def every_lane(self) -> list[Lane]:
        return [*self.lanes, self.urgent_lane]

    def add_lane(self) -> None:
        self.lanes.append(self._new_lane())

    def _new_lane(self) -> Lane:
        lane = Lane(
            self.server,
            on_open=lambda connection: self._selector.register(
                connection, selectors.EVENT_READ, (self, lane)
            ),
            on_close=self._selector.unregister,
            on_wait=lambda connection, is_waiting: self._selector.modify(
                connection, _READ_AND_WRITE if is_waiting else selectors.EVENT_READ, (self, lane)
            ),
        )
        return lane

    def next_assignment(self) -> tuple[Lane, Job] | None:
        """Return a free lane and the job for it."""
        if self.urgent and self.urgent_lane.is_free:
            return self.urgent_lane, self.urgent.popleft()
        free = [lane for lane in self.lanes if lane.is_free] if self.queue else []
        return (free[0], self.queue.popleft()) if free else None

    def check(self, now: float) -> list[Result]:
        """See to it that the server and the workers do what they were asked.

        Returns:
            The jobs that ended by that.
        """
        self.server.check(now)
        results = [lane.check(now) for lane in self.every_lane]
        return [result for result in results if result is not None]

    @property
    def waiting(self) -> int:
        busy = sum(not lane.is_free for lane in self.every_lane)
        return len(self.queue) + len(self.urgent) + busy


class Dispatcher:
    """Runs jobs on every target's workers and survives whatever they do."""

    def __init__(self, *, lanes: int = 1) -> None:
        """Make a dispatcher with `lanes` workers per target; targets are added by `start`."""
        self._lanes = lanes
        self._stations: dict[str, _Station] = {}
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
            station = _Station(server, self._selector)
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

    def _assign(self, station: _Station) -> None:
        while not station.failed and (assignment := station.next_assignment()):
            lane, job = assignment
            self._guard(station, partial(lane.give, job))

    def _guard(self, station: _Station, action: Callable[[], T]) -> T | None:
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

    def wait(self, timeout_s: float) -> list[Result]:
        """Return the jobs that were completed, waiting up to `timeout_s` for the first."""
        deadline = time.monotonic() + timeout_s
        results: list[Result] = []
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

    def _hear(self, source: _Station | tuple[_Station, Lane]) -> Result | None:
        station, lane = (source, None) if isinstance(source, _Station) else source
        if station.failed:  # meanwhile: by what was ready at the same time
            return None
        action = partial(self._news, station) if lane is None else lane.read
        result = self._guard(station, action)
        self._assign(station)
        return result

    def _news(self, station: _Station) -> Result | None:
        report = station.server.report()
        for lane in station.every_lane:
            if isinstance(report, Forked) and report.ticket == lane.ticket:
                lane.adopt(report.pid)
                return None
            if isinstance(report, Died) and report.pid == lane.pid:
                return lane.bury(report.death)
        if isinstance(report, Forked):  # its lane let go of it before it was reported
            station.server.dismiss(report.pid)
        return None

    def _check(self, now: float) -> list[Result]:
        if now < self._next_check:
            return []
        self._next_check = now + _TICK_S
        results: list[Result] = []
        for station in self._stations.values():
            if not station.failed:
                ended = self._guard(station, partial(station.check, now))
                if ended:
                    results += ended
                    self._assign(station)
        return results

    def describe(self, target: str) -> Iterator[dict[str, Any]]:
        """Yield the records of a target's public API. Waits; no job may be under way.

        Raises:
            WorkerStartError: if the library's catalogue cannot be read.
        """
        with tempfile.TemporaryFile(dir=self.scratch) as output:
            death, log, _ = self._call(target, "describe", [output.fileno()], limit_s=_DESCRIBE_S)
            if death.status != 0:
                msg = f"{target}: its public API cannot be listed.\n{log.strip()}"
                raise WorkerStartError(msg)
            output.seek(0)
            for line in iter(partial(output.readline, MAX_BYTES), b""):
                yield _description(target, line)

    def models(
        self, target: str, sources: Iterable[Mapping[str, Json]], *, limit_s: float = _MODEL_S
    ) -> Iterator[dict[str, Any]]:
        """Yield one record per seed model: its graph, or `{"name", "error"}`.

        Each source has a child of its own, which may crash or hang. Waits; no job may be under way.

        Args:
            target: one of a library whose adapter has `models`.
            sources: see `ciguard.libraries.keras.in_target.seeds`. What they name must be in
                `WorkerSpec.readable`, the `folder` of an application in `WorkerSpec.writable`.
            limit_s: time for one source.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        for source in sources:
            record = self._asked(target, "models", source, limit_s=limit_s)
            yield {**record, "name": source["name"]}

    def functions(
        self, target: str, asked: Iterable[Mapping[str, Json]], *, limit_s: float = _MODEL_S
    ) -> Iterator[dict[str, Any]]:
        """Yield what describes the user's functions, program by program, or `{"error"}`.

        Each program has a child of its own, which may crash or hang. Waits; no job may be under
        way.

        Args:
            target: one with `WorkerSpec.functions`.
            asked: what the runner's `describe` is given.
            limit_s: time for one program.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        for one in asked:
            yield self._asked(target, "functions", one, limit_s=limit_s)

    def _asked(
        self, target: str, operation: str, source: Mapping[str, Json], *, limit_s: float
    ) -> dict[str, Any]:
        """Have a child answer one question with one line of JSON."""
        with (
            tempfile.TemporaryFile(dir=self.scratch) as asked,
            tempfile.TemporaryFile(dir=self.scratch) as output,
        ):
            asked.write(json.dumps([source]).encode())
            asked.flush()
            given = [asked.fileno(), output.fileno()]
            death, log, stack = self._call(target, operation, given, limit_s=limit_s)
            output.seek(0)
            answer = output.read(MAX_BYTES + 1)
        why = failure(death, log=log, stack=stack, limit_s=limit_s)
        return {"error": why} if why else read_record(answer)

    def run_script(self, target: str, text: str, *, limit_s: float) -> ScriptResult:
        """Run a script in a child of a target's server. Waits; no job may be under way.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        with tempfile.TemporaryFile(dir=self.scratch) as script:
            script.write(text.encode("utf-8", "backslashreplace"))
            script.flush()
            death, log, stack = self._call(target, "script", [script.fileno()], limit_s=limit_s)
        exited = os.WIFEXITED(death.status) and not death.killed_for
        code = os.WEXITSTATUS(death.status) if exited else None
        if code in {0, 1}:
            return ScriptResult(code, None, log)
        on_device = self._stations[target].server.spec.device != "cpu"
        outcome = decode_death(death, log=log, stack=stack, limit_s=limit_s, on_device=on_device)
        return ScriptResult(code, outcome, log)

    def _call(
        self, target: str, operation: str, given: Sequence[int], *, limit_s: float
    ) -> tuple[Death, str, str]:
        server = self._stations[target].server
        with (
            tempfile.TemporaryFile(dir=self.scratch) as log,
            tempfile.TemporaryFile(dir=self.scratch) as stack,
        ):
            ticket = server.request(operation, [*given, log.fileno(), stack.fileno()])
            death = self._await_death(server, ticket, limit_s)
            stack_text = contents(stack.fileno()).decode("utf-8", "replace")
            return death, excerpt(contents(log.fileno())), stack_text

    def _await_death(self, server: ServerProcess, ticket: int, limit_s: float) -> Death:
        deadline = time.monotonic() + limit_s
        pid = 0
        killed_for = ""
        while True:
            now = time.monotonic()
            server.check(now)
            if server.has_news(min(max(deadline - now, _TICK_S), _NEWS_S)):
                report = server.report()
                if isinstance(report, Forked) and report.ticket == ticket:
                    pid = report.pid
                elif isinstance(report, Died) and report.pid == pid:
                    return Death(report.death.status, report.death.peak_kib, killed_for)
            elif pid and not killed_for and time.monotonic() > deadline:
                killed_for = "time"
                server.kill(pid, dump=True)

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


def _description(target: str, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        msg = f"{target}: its public API cannot be listed: {error} in {line[:80]!r}"
        raise WorkerStartError(msg) from error
    if not isinstance(record, dict):
        msg = f"{target}: its public API cannot be listed: {line[:80]!r} is no record"
        raise WorkerStartError(msg)
    return record
