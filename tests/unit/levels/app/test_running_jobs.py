"""Jobs of services that are still running at the first status request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.levels.app.in_target.running_jobs import RunningJobs

if TYPE_CHECKING:
    import pytest


def test_job_is_running_at_the_first_status_request_within_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [10.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    jobs = RunningJobs()
    jobs.start("asked at once")
    jobs.start("asked later")

    assert [jobs.is_running("asked at once") for _ in range(2)] == [True, False]
    now[0] = 12.0
    assert not jobs.is_running("asked later")
    assert not jobs.is_running("never jobs")


def test_job_without_a_status_request_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    jobs = RunningJobs()
    for number in range(100):
        now[0] += 0.5
        jobs.start(f"{number}")

    assert len(jobs._since) == 3
