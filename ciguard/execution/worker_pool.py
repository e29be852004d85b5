"""The workers of one target: its fork server, its lanes, and its queues of jobs."""

from __future__ import annotations

import selectors
from collections import deque
from typing import TYPE_CHECKING

from ciguard.execution.job import Priority
from ciguard.execution.lane import Lane
from ciguard.execution.reports import Forked
from ciguard.execution.spare import SpareWorker
from ciguard.execution.worker_handle import WorkerHandle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.execution.job import Job, JobResult
    from ciguard.execution.process import ServerProcess

_READ_AND_WRITE = selectors.EVENT_READ | selectors.EVENT_WRITE
_IN_URGENT_LANE = (Priority.URGENT, Priority.BACKGROUND)
_IN_FIRST_LANE = (Priority.NORMAL, Priority.BACKGROUND)
"""Priorities in the lane of measuring sessions, whose worker must not be replaced."""
_IN_FURTHER_LANES = (Priority.NORMAL, Priority.URGENT, Priority.BACKGROUND, Priority.LONG)


class WorkerPool:
    """Fork server, lanes and job queues of one target.

    Urgent jobs have a lane of their own, as they need fresh workers, and so have long ones, so that
    no other job waits for them. The other lanes keep their warm workers. When these have nothing
    else to do, all but the first run urgent and long jobs, too. Jobs in the background run where
    nothing else is waiting. On a device, long jobs share the urgent lane, to save its memory.
    """

    def __init__(
        self, server: ServerProcess, selector: selectors.BaseSelector, *, lanes: int
    ) -> None:
        self.server = server
        """Fork server of the target."""
        self._selector = selector
        self.spare = SpareWorker(server, self._new_worker())
        """Worker that is started ahead for all lanes."""
        self._duties = duties(
            [self._new_lane() for _ in range(lanes)],
            urgent=self._new_lane(),
            long=self._new_lane() if server.spec.device == "cpu" else None,
        )
        """Lanes with the priorities of their jobs."""
        self.queues: dict[Priority, deque[Job]] = {priority: deque() for priority in Priority}
        """Waiting jobs by priority."""
        self.failed = ""
        """Reason why the target's workers cannot run any more; empty while they can."""
        self.requested = 0
        """Number of cases that were ever submitted."""

    @property
    def all_lanes(self) -> list[Lane]:
        """All lanes, including those of urgent and long jobs."""
        return [lane for lane, _ in self._duties]

    def _new_lane(self) -> Lane:
        return Lane(self.server, self._new_worker(), self.spare)

    def _new_worker(self) -> WorkerHandle:
        worker = WorkerHandle(
            self.server,
            on_open=lambda connection: self._selector.register(
                connection, selectors.EVENT_READ, (self, worker)
            ),
            on_close=self._selector.unregister,
            on_wait=lambda connection, is_waiting: self._selector.modify(
                connection, _READ_AND_WRITE if is_waiting else selectors.EVENT_READ, (self, worker)
            ),
        )
        return worker

    def read(self, worker: WorkerHandle) -> JobResult | None:
        """Read from a worker of this pool; return the result if a job is complete."""
        for lane in self.all_lanes:
            if lane.worker is worker:
                return lane.read()
        self.spare.read()
        return None

    def read_report(self) -> JobResult | None:
        """Read a report of the server; return the result if it completes a job.

        Raises:
            WorkerStartError: if the server is gone, or its workers cannot start.
        """
        report = self.server.next_report()
        if isinstance(report, Forked):
            self._adopt(report)
            return None
        for lane in self.all_lanes:
            if report.pid == lane.worker.pid:
                return lane.handle_exit(report.exit)
        if report.pid == self.spare.handle.pid:
            self.spare.handle_exit()
        return None

    def _adopt(self, report: Forked) -> None:
        for worker in (*(lane.worker for lane in self.all_lanes), self.spare.handle):
            if report.ticket == worker.ticket:
                worker.adopt(report.pid)
                return
        self.server.dismiss(report.pid)  # it was released before this report

    def next_assignment(self) -> tuple[Lane, Job] | None:
        """Return a free lane and the next job for it; None if there is none."""
        for lane, priorities in self._duties:
            if lane.is_free:
                queue = next(filter(None, (self.queues[one] for one in priorities)), None)
                if queue is not None:
                    return lane, queue.popleft()
        return None

    def check(self, now: float) -> list[JobResult]:
        """Check the server and the workers, and end those that exceed their limits.

        Returns:
            Results of the jobs that ended by this.
        """
        self.server.check(now)
        self.spare.check(now)
        results = [lane.check(now) for lane in self.all_lanes]
        return [result for result in results if result is not None]

    @property
    def waiting(self) -> int:
        """Number of jobs that are queued or running."""
        busy = sum(not lane.is_free for lane in self.all_lanes)
        return sum(map(len, self.queues.values())) + busy

    def fail(self, reason: str) -> None:
        """Drop all jobs and workers, as the server is gone or its workers cannot start."""
        self.failed = reason
        for queue in self.queues.values():
            queue.clear()
        self._selector.unregister(self.server.control)
        for lane in self.all_lanes:
            lane.abandon()
        self.spare.handle.dismiss()

    def close(self) -> None:
        """Release all workers and their memory."""
        for lane in self.all_lanes:
            lane.close()
        self.spare.close()


def duties(
    lanes: Sequence[Lane], *, urgent: Lane, long: Lane | None
) -> list[tuple[Lane, tuple[Priority, ...]]]:
    """Return all lanes with the priorities of their jobs, the most urgent jobs first."""
    normal = [
        (lane, _IN_FURTHER_LANES if number else _IN_FIRST_LANE) for number, lane in enumerate(lanes)
    ]
    if long is None:
        return [(urgent, (*_IN_URGENT_LANE, Priority.LONG)), *normal]
    return [(urgent, _IN_URGENT_LANE), (long, (Priority.LONG,)), *normal]
