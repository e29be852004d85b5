"""The workers of one target: its fork server, its lanes, and its queues of jobs."""

from __future__ import annotations

import selectors
from collections import deque
from typing import TYPE_CHECKING

from ciguard.execution.job import Priority
from ciguard.execution.lane import Lane

if TYPE_CHECKING:
    from ciguard.execution.job import Job, JobResult
    from ciguard.execution.process import ServerProcess

_READ_AND_WRITE = selectors.EVENT_READ | selectors.EVENT_WRITE


class WorkerPool:
    """Fork server, lanes and job queues of one target.

    Urgent jobs have a lane of their own, as they need fresh workers. The other lanes keep their
    warm workers, and continue while an urgent job hangs. Jobs in the background run in the urgent
    lane, too, and in the other lanes when these have nothing else to do.
    """

    def __init__(self, server: ServerProcess, selector: selectors.BaseSelector) -> None:
        self.server = server
        """Fork server of the target."""
        self._selector = selector
        self.lanes: list[Lane] = []
        """Lanes for jobs that are not urgent."""
        self.urgent_lane = self._new_lane()
        """Lane for urgent jobs."""
        self.queues: dict[Priority, deque[Job]] = {priority: deque() for priority in Priority}
        """Waiting jobs by priority."""
        self.failed = ""
        """Reason why the target's workers cannot run any more; empty while they can."""
        self.requested = 0
        """Number of cases that were ever submitted."""

    @property
    def all_lanes(self) -> list[Lane]:
        """All lanes, including that of urgent jobs."""
        return [*self.lanes, self.urgent_lane]

    def add_lane(self) -> None:
        """Add a lane for jobs that are not urgent."""
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
        """Return a free lane and the next job for it; None if there is none."""
        background = self.queues[Priority.BACKGROUND]
        if self.urgent_lane.is_free:
            queue = self.queues[Priority.URGENT] or background
            if queue:
                return self.urgent_lane, queue.popleft()
        queue = self.queues[Priority.NORMAL] or background
        free = [lane for lane in self.lanes if lane.is_free] if queue else []
        return (free[0], queue.popleft()) if free else None

    def check(self, now: float) -> list[JobResult]:
        """Check the server and the workers, and end those that exceed their limits.

        Returns:
            Results of the jobs that ended by this.
        """
        self.server.check(now)
        results = [lane.check(now) for lane in self.all_lanes]
        return [result for result in results if result is not None]

    @property
    def waiting(self) -> int:
        """Number of jobs that are queued or running."""
        busy = sum(not lane.is_free for lane in self.all_lanes)
        return sum(map(len, self.queues.values())) + busy
