from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest

from ciguard.execution.job import Job, Priority
from ciguard.execution.worker_pool import WorkerPool

if TYPE_CHECKING:
    from ciguard.execution.lane import Lane


class FakeLane:
    """A lane that is free or busy."""

    def __init__(self, *, is_free: bool) -> None:
        self.is_free = is_free


def pool(*waiting: Priority, busy: str = "") -> WorkerPool:
    """Return a pool with one job of each priority waiting, whose urgent or other lane is busy."""
    made = object.__new__(WorkerPool)  # without a server
    made.lanes = [fake_lane(is_free=busy != "normal")]
    made.urgent_lane = fake_lane(is_free=busy != "urgent")
    made.queues = {priority: deque() for priority in Priority}
    for priority in waiting:
        made.queues[priority].append(Job("target", priority, ()))
    return made


def fake_lane(*, is_free: bool) -> Lane:
    return FakeLane(is_free=is_free)  # type: ignore[return-value]


URGENT, NORMAL, BACKGROUND = Priority


@pytest.mark.parametrize(
    ("waiting", "busy", "order"),
    [
        ((URGENT, NORMAL, BACKGROUND), "", [URGENT, BACKGROUND, NORMAL]),
        ((NORMAL, BACKGROUND), "urgent", [NORMAL, BACKGROUND]),
        ((NORMAL, URGENT), "urgent", [NORMAL]),
        ((NORMAL, BACKGROUND), "normal", [BACKGROUND]),
        ((), "", []),
    ],
)
def test_background_jobs_use_only_lanes_that_no_other_job_needs(
    waiting: tuple[Priority, ...], busy: str, order: list[Priority]
) -> None:
    made = pool(*waiting, busy=busy)

    given = []
    while (assignment := made.next_assignment()) is not None:
        lane, job = assignment
        assert lane.is_free
        assert job.key is not URGENT or lane is made.urgent_lane
        given.append(job.key)

    assert given == order
    assert made.waiting == len(waiting) - len(order) + bool(busy)
