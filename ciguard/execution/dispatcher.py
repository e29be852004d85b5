"""The dispatcher, which runs jobs on the workers of many targets from one thread.

dispatcher.add(Job(...))              # any number of jobs
for result in dispatcher.wait(1.0):   # until `dispatcher.is_idle`
    ...
"""

from __future__ import annotations

import selectors
import tempfile
import time
from collections import deque
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from ciguard.errors import WorkerStartError
from ciguard.execution.abandoned import sweep_once
from ciguard.execution.child_tasks import ChildTasks
from ciguard.execution.job import Priority
from ciguard.execution.process import ServerProcess
from ciguard.execution.worker.removal import remove_tree
from ciguard.execution.worker_pool import WorkerPool
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from types import TracebackType

    from ciguard.execution.job import Job, JobResult
    from ciguard.execution.spec import WorkerSpec
    from ciguard.execution.worker_handle import WorkerHandle

T = TypeVar("T")

_TICK_S = 0.1


class Dispatcher:
    """Runs jobs on the workers of all targets, and survives crashes and hangs of the workers."""

    def __init__(self, *, lanes: int = 1) -> None:
        """Make a dispatcher with `lanes` workers per target; `start` adds the targets."""
        self.lanes = lanes
        """Number of workers per target, besides those for urgent and long jobs."""
        self._pools: dict[str, WorkerPool] = {}
        self._selector = selectors.DefaultSelector()
        sweep_once()
        self.scratch = Path(tempfile.mkdtemp(prefix=scratch_prefix("run")))
        """Folder of all files that the workers write; `close` removes it."""
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
        """Start the fork servers of several targets in parallel, and wait for all of them.

        Returns:
            Server by target name, or the error that prevented its start.
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
            pool = WorkerPool(server, self._selector, lanes=self.lanes)
            self._pools[name] = pool
            self._selector.register(server.control, selectors.EVENT_READ, pool)
            started[name] = server
        return started

    def add(self, job: Job, priority: Priority = Priority.NORMAL) -> None:
        """Queue a job. A target that has failed ignores it; see `failure`."""
        pool = self._pools[job.target]
        pool.requested += len(job.cases)
        if pool.failed:
            return
        pool.queues[priority].append(job)
        self._assign(pool)

    def clear_queue(self) -> None:
        """Drop the waiting jobs of normal priority that are not careful."""
        for pool in self._pools.values():
            waiting = pool.queues[Priority.NORMAL]
            pool.queues[Priority.NORMAL] = deque(job for job in waiting if job.is_careful)

    def prove(self) -> bool:
        """Run canaries on idle workers to prove that their results are valid; see `canaries`.

        Returns:
            True if every result so far is proven. `take_invalidated` returns the jobs whose results
            can no longer be proven.
        """
        running = [pool for pool in self._pools.values() if not pool.failed]
        for pool in running:
            for lane in pool.all_lanes:
                lane.prove()
        return all(lane.is_proven for pool in running for lane in pool.all_lanes)

    def unproven(self) -> set[tuple[str, Hashable]]:
        """Return the target and key of every job whose results are returned but not proven."""
        lanes = [lane for pool in self._pools.values() for lane in pool.all_lanes]
        jobs = [job for lane in lanes for job in (*lane.ledger.unproven, *lane.ledger.invalidated)]
        return {(job.target, job.key) for job in jobs}

    def take_invalidated(self) -> list[Job]:
        """Return the jobs whose results were invalidated since the last call."""
        lanes = [lane for pool in self._pools.values() for lane in pool.all_lanes]
        invalidated = [job for lane in lanes for job in lane.ledger.invalidated]
        for lane in lanes:
            lane.ledger.invalidated.clear()
        return invalidated

    def waiting(self, target: str) -> int:
        """Return the number of jobs of a target that are queued or running."""
        return self._pools[target].waiting

    def requested(self, target: str) -> int:
        """Return the number of cases that were ever submitted to a target."""
        return self._pools[target].requested

    @property
    def is_idle(self) -> bool:
        """True if no job is queued or running."""
        return not any(pool.waiting for pool in self._pools.values())

    def failure(self, target: str) -> str:
        """Return the reason why a target's workers cannot run any more; empty while they can."""
        return self._pools[target].failed

    def _assign(self, pool: WorkerPool) -> None:
        while not pool.failed and (assignment := pool.next_assignment()):
            lane, job = assignment
            self._guard(pool, partial(lane.give, job))

    def _guard(self, pool: WorkerPool, action: Callable[[], T]) -> T | None:
        """Run an action on a pool; a server that exited makes only this pool fail."""
        try:
            return action()
        except WorkerStartError as error:
            pool.fail(str(error))
            return None

    def wait(self, timeout_s: float) -> list[JobResult]:
        """Return the results of completed jobs, waiting up to `timeout_s` seconds for the first."""
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
                result = self._read(key.data)
                if result is not None:
                    results.append(result)
        return results

    def _read(self, source: WorkerPool | tuple[WorkerPool, WorkerHandle]) -> JobResult | None:
        pool, worker = (source, None) if isinstance(source, WorkerPool) else source
        if pool.failed:  # an event of the same round made it fail
            return None
        action = pool.read_report if worker is None else partial(pool.read, worker)
        result = self._guard(pool, action)
        self._assign(pool)
        return result

    def _check(self, now: float) -> list[JobResult]:
        if now < self._next_check:
            return []
        self._next_check = now + _TICK_S
        results: list[JobResult] = []
        for pool in self._pools.values():
            if not pool.failed:
                ended = self._guard(pool, partial(pool.check, now))
                if ended:
                    results += ended
                    self._assign(pool)
        return results

    def tasks(self, target: str) -> ChildTasks:
        """Return the one-off tasks of a target, which must not run while a job is running."""
        return ChildTasks(self._pools[target].server, scratch=self.scratch)

    def close(self) -> None:
        """Stop every worker and remove the files that they wrote."""
        for pool in self._pools.values():
            pool.close()
            pool.server.terminate()  # all servers terminate in parallel
        for pool in self._pools.values():
            pool.server.stop()
        self._pools.clear()
        self._selector.close()
        remove_tree(str(self.scratch))
