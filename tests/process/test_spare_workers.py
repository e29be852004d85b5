"""Spare workers: forked ahead, taken when a worker ends, and released with the target."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from test_engine import TENSOR, call, encoded, outcomes_of, spec

from ciguard.domain.outcomes import Crashed, Passed
from ciguard.execution import Dispatcher, Job, ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD = call("double", TENSOR)
PID = call("worker_pid")


def forking_process(running: Dispatcher) -> int:
    """Start the planted target, and return the process id of its fork server."""
    server = running.start([spec()])["planted"]
    assert isinstance(server, ServerProcess)
    (forking,) = workers_of(server.process_id)
    return forking


def workers_of(process: int) -> set[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return set(map(int, listed.split()))


def pid_of_worker(running: Dispatcher) -> int:
    (outcome,) = outcomes_of(running, PID)
    assert isinstance(outcome, Passed)
    return int(json.loads(outcome.encoded)[1])


def crash(running: Dispatcher) -> None:
    crashed, after = outcomes_of(running, call("meet", "SIGSEGV"), GOOD)
    assert isinstance(crashed, Crashed)
    assert isinstance(after, Passed)


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_target_whose_workers_never_end_has_no_spare_worker() -> None:
    with Dispatcher() as running:
        forking = forking_process(running)

        outcomes_of(running, GOOD)

        assert workers_of(forking) == {pid_of_worker(running)}


def test_worker_that_ends_is_replaced_by_one_that_was_forked_before() -> None:
    with Dispatcher() as running:
        forking = forking_process(running)
        crash(running)
        first = pid_of_worker(running)
        assert eventually(lambda: len(workers_of(forking)) == 2)
        (spare,) = workers_of(forking) - {first}

        crash(running)

        assert pid_of_worker(running) == spare
        assert eventually(lambda: len(workers_of(forking)) == 2)


def test_lanes_of_a_target_share_one_spare_worker() -> None:
    with Dispatcher(lanes=3) as running:
        forking = forking_process(running)
        for number in range(6):
            cases = (encoded(call("meet", "SIGSEGV")), encoded(GOOD))
            running.add(Job("planted", number, cases))
        while not running.is_idle:
            running.wait(1.0)

        assert eventually(lambda: len(workers_of(forking)) <= 4)


def test_spare_worker_that_is_killed_from_outside_is_not_used() -> None:
    with Dispatcher() as running:
        forking = forking_process(running)
        crash(running)
        assert eventually(lambda: len(workers_of(forking)) == 2)
        (spare,) = workers_of(forking) - {pid_of_worker(running)}
        os.kill(spare, signal.SIGKILL)
        assert eventually(lambda: spare not in workers_of(forking))

        crash(running)

        assert pid_of_worker(running) != spare
        assert running.failure("planted") == ""


def test_job_with_perturbed_memory_gets_no_spare_worker() -> None:
    with Dispatcher() as running:
        forking = forking_process(running)
        crash(running)
        assert eventually(lambda: len(workers_of(forking)) == 2)
        before = workers_of(forking)
        running.add(Job("planted", "fresh", (encoded(PID),), fresh=True, perturb=0x55))
        while not (results := running.wait(1.0)):
            pass

        (outcome,) = results[0].outcomes

        assert isinstance(outcome, Passed)
        assert int(json.loads(outcome.encoded)[1]) not in before
