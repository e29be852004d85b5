"""When a worker must end, whatever it writes about itself."""

from __future__ import annotations

import time

from ciguard.execution import Job, Limits
from ciguard.execution.worker_monitor import WorkerMonitor

LIMITS = Limits(case_s=1.0, program_s=60.0)
CASES = (b'["planted.double","function"]', b'["planted","program"]')


def watching() -> tuple[WorkerMonitor, float]:
    worker_monitor = WorkerMonitor(LIMITS)
    worker_monitor.start_batch(Job("planted", "test", CASES), CASES)
    return worker_monitor, time.monotonic()


def test_a_start_time_that_is_not_written_yet_kills_no_worker() -> None:
    worker_monitor, now = watching()

    assert not worker_monitor.kill_reason(now, 1, 0)


def test_a_case_that_resets_its_start_time_still_times_out() -> None:
    worker_monitor, now = watching()

    reasons = [
        worker_monitor.kill_reason(now + s, 1, int((now + s) * 1e9)) for s in (0.0, 0.9, 1.1)
    ]

    assert reasons == ["", "", "time"]


def test_each_case_has_its_own_timeout_and_canaries_have_the_default() -> None:
    worker_monitor, now = watching()

    of_program = [worker_monitor.kill_reason(now + s, 2, int(now * 1e9)) for s in (0.0, 59.0)]
    of_canary = [
        worker_monitor.kill_reason(now + s, 3, int((now + 59) * 1e9)) for s in (59.0, 61.0)
    ]

    assert of_program == ["", ""]
    assert of_canary == ["", "time"]


def test_a_worker_that_returns_to_an_earlier_case_is_killed() -> None:
    worker_monitor, now = watching()
    worker_monitor.kill_reason(now, 2, int(now * 1e9))

    assert worker_monitor.kill_reason(now, 1, int(now * 1e9)) == "protocol"


def test_a_worker_that_is_silent_between_two_cases_is_killed() -> None:
    worker_monitor, now = watching()

    assert [worker_monitor.kill_reason(now + s, 0, 0) for s in (1.0, 59.0, 61.0)] == [
        "",
        "",
        "silence",
    ]
