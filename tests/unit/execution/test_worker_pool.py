from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest

from ciguard.execution.job import Job, Priority
from ciguard.execution.worker_pool import WorkerPool, duties

if TYPE_CHECKING:
    from ciguard.execution.lane import Lane


class FakeLane:
    """A lane that is free or busy."""

    def __init__(self, *, is_free: bool) -> None:
        self.is_free = is_free


def pool(*waiting: Priority, busy: str = "", lanes: int = 1, on_device: bool = False) -> WorkerPool:
    """Return a pool with one job of each priority waiting.

    Args:
        waiting: priorities of the jobs.
        busy: first letters of the busy lanes: u(rgent), l(ong), n(ormal).
        lanes: number of lanes for normal jobs.
        on_device: whether the target has no lane for long jobs.
    """
    made = object.__new__(WorkerPool)  # without a server
    made._duties = duties(
        [fake_lane(is_free="n" not in busy) for _ in range(lanes)],
        urgent=fake_lane(is_free="u" not in busy),
        long=None if on_device else fake_lane(is_free="l" not in busy),
    )
    made.queues = {priority: deque() for priority in Priority}
    for priority in waiting:
        made.queues[priority].append(Job("target", priority, ()))
    return made


def fake_lane(*, is_free: bool) -> Lane:
    return FakeLane(is_free=is_free)  # type: ignore[return-value]


def given(made: WorkerPool) -> list[Priority]:
    """Assign jobs until no lane takes one; lanes that were free stay free."""
    order: list[Priority] = []
    while (assignment := made.next_assignment()) is not None:
        lane, job = assignment
        assert lane.is_free
        assert isinstance(job.key, Priority)
        order.append(job.key)
    return order


URGENT, NORMAL, BACKGROUND, LONG = Priority


@pytest.mark.parametrize(
    ("waiting", "busy", "order"),
    [
        ((URGENT, NORMAL, BACKGROUND), "", [URGENT, BACKGROUND, NORMAL]),
        ((NORMAL, BACKGROUND), "u", [NORMAL, BACKGROUND]),
        ((NORMAL, URGENT), "u", [NORMAL]),
        ((NORMAL, BACKGROUND), "n", [BACKGROUND]),
        ((LONG, URGENT, BACKGROUND, NORMAL), "", [URGENT, BACKGROUND, LONG, NORMAL]),
        ((LONG, URGENT, BACKGROUND, NORMAL), "un", [LONG]),
        ((LONG, NORMAL), "l", [NORMAL]),
        ((), "", []),
    ],
)
def test_only_jobs_in_the_background_use_lanes_of_other_jobs(
    waiting: tuple[Priority, ...], busy: str, order: list[Priority]
) -> None:
    made = pool(*waiting, busy=busy)

    assert given(made) == order
    assert made.waiting == len(waiting) - len(order) + len(busy)


def test_further_lanes_run_urgent_and_long_jobs_when_nothing_else_is_waiting() -> None:
    made = pool(LONG, BACKGROUND, URGENT, NORMAL, busy="ul", lanes=2)

    assert given(made) == [NORMAL, BACKGROUND, URGENT, LONG]


def test_long_jobs_share_the_urgent_lane_on_a_device() -> None:
    assert given(pool(LONG, BACKGROUND, URGENT, on_device=True)) == [URGENT, BACKGROUND, LONG]
    assert given(pool(LONG, busy="u", on_device=True)) == []
