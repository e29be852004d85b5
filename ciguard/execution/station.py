"""A station: one target with its server, its lanes, and the jobs that wait for them."""

from __future__ import annotations

import selectors
from collections import deque
from typing import TYPE_CHECKING

from ciguard.execution.lane import Lane

if TYPE_CHECKING:
    from ciguard.execution.job import Job, JobResult
    from ciguard.execution.process import ServerProcess

_READ_AND_WRITE = selectors.EVENT_READ | selectors.EVENT_WRITE


class Station:
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
        """All lanes, that of urgent jobs included."""
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
        """Return a free lane and the job for it."""
        if self.urgent and self.urgent_lane.is_free:
            return self.urgent_lane, self.urgent.popleft()
        free = [lane for lane in self.lanes if lane.is_free] if self.queue else []
        return (free[0], self.queue.popleft()) if free else None

    def check(self, now: float) -> list[JobResult]:
        """See to it that the server and the workers do what they were asked.

        Returns:
            The jobs that ended by that.
        """
        self.server.check(now)
        results = [lane.check(now) for lane in self.every_lane]
        return [result for result in results if result is not None]

    @property
    def waiting(self) -> int:
        """How many jobs are queued or running."""
        busy = sum(not lane.is_free for lane in self.every_lane)
        return len(self.queue) + len(self.urgent) + busy
