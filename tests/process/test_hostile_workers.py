"""Workers that attack: ciguard survives them, ends them in time, and believes no forgery."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from planted_workers import landlock, started
from test_engine import TENSOR, call, encoded, outcomes_of, spec

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import (
    CRASHED_AFTERWARDS,
    Crashed,
    Errored,
    Exhausted,
    Hung,
    Passed,
    Rejected,
)
from ciguard.domain.values import LiteralValue
from ciguard.execution import Dispatcher, Job, JobResult, Limits, ServerProcess, worker_monitor
from ciguard.execution import process as processes
from ciguard.execution.abandoned import sweep_abandoned
from ciguard.execution.assignment import Assignment
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.outcomes import Outcome

GOOD = call("double", TENSOR)
BROKEN = "broke the worker's protocol"


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    with Dispatcher() as running:
        started = running.start([spec()])["planted"]
        assert isinstance(started, ServerProcess), started
        yield running


def attack(name: str, *arguments: object) -> ApiCall:
    return call(f"hostile.{name}", *arguments)


def server_of(running: Dispatcher) -> ServerProcess:
    server = running.start([spec()])["planted"]
    assert isinstance(server, ServerProcess)
    return server


def failure_of(running: Dispatcher) -> str:
    deadline = time.monotonic() + 20
    while not running.failure("planted") and time.monotonic() < deadline:
        if running.is_idle:  # a worker may outlive its server by a moment
            running.add(Job("planted", "lost", (encoded(GOOD),)))
        running.wait(0.1)
    return running.failure("planted")


def prove(running: Dispatcher) -> list[Job]:
    """Let all workers prove themselves; return what they could not."""
    void: list[Job] = []
    deadline = time.monotonic() + 20
    while not running.prove() and time.monotonic() < deadline:
        running.wait(0.1)
    return void + running.take_invalidated()


# --- files ----------------------------------------------------------------------------------------


def test_a_link_in_place_of_the_servers_log_shows_no_file_of_others(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("s3cret")
    with landlock(0) as unruled, Dispatcher() as running:  # else nothing can be put there
        server = started(running, unruled)
        (replaced,) = outcomes_of(running, attack("replace_server_log", str(secret)))
        assert isinstance(replaced, Passed), replaced
        os.killpg(server.process_id, signal.SIGKILL)

        reason = failure_of(running)

    assert "its fork server exited" in reason
    assert "s3cret" not in reason


def test_a_fifo_in_place_of_the_servers_log_blocks_nobody() -> None:
    with landlock(0) as unruled, Dispatcher() as running:
        server = started(running, unruled)
        (refused,) = outcomes_of(running, attack("replace_server_log", ""))
        assert isinstance(refused, Rejected), refused  # seccomp knows no FIFO
        os.killpg(server.process_id, signal.SIGKILL)

        assert "its fork server exited" in failure_of(running)


def test_folders_nested_deeper_than_the_stack_are_removed() -> None:
    with Dispatcher() as running:
        running.start([spec(limits=Limits(case_s=30.0, memory_mib=256))])
        (done,) = outcomes_of(running, attack("nest", 1200))
        scratch = running.scratch

    assert isinstance(done, Passed | Exhausted)  # the quota may see them first
    assert not scratch.exists()


def test_unremovable_folder_does_not_stop_the_next_run(tmp_path: Path) -> None:
    place = scratch_prefix("run").split("-")[4]
    gone = f"ciguard-run-{2**22 - 1}-5-{place}"  # higher than any process of this machine
    abandoned = tmp_path / f"{gone}-x"
    abandoned.mkdir()
    here = Path.cwd()
    os.chdir(abandoned)
    for _ in range(3000):
        os.mkdir("nested")  # noqa: PTH102 - the path is longer than the kernel takes
        os.chdir("nested")
    os.chdir(here)
    (tmp_path / f"{gone}-y").symlink_to(tmp_path / "elsewhere")
    (tmp_path / f"ciguard-run-²-5-{place}-x").mkdir()

    sweep_abandoned(tmp_path)
    sweep_abandoned(tmp_path / "elsewhere")

    assert not abandoned.exists()


# --- memory ---------------------------------------------------------------------------------------


def test_the_shared_memory_keeps_its_size(dispatcher: Dispatcher) -> None:
    refused, after = outcomes_of(dispatcher, attack("shrink_cell"), GOOD)

    assert not isinstance(refused, Passed)
    assert isinstance(after, Passed)


@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "careful"])
def test_a_worker_that_crashes_after_its_only_case_was_harmed_by_it(
    dispatcher: Dispatcher, *, fresh: bool
) -> None:
    case = encoded(attack("corrupt_for_later"))
    job = Job("planted", "alone", (case,), fresh=fresh, is_careful=not fresh)
    dispatcher.add(job)
    dispatcher.add(replace(job, cases=(encoded(GOOD),)))

    results: list[JobResult] = []
    while len(results) < 2:
        results += dispatcher.wait(1.0)

    (harmed,), (good,) = (result.outcomes for result in results)
    assert isinstance(harmed, Crashed)
    assert (harmed.cause, harmed.needs_worker) == (CRASHED_AFTERWARDS, True)
    assert isinstance(good, Passed)
    assert prove(dispatcher) == []


def test_results_of_a_worker_that_crashes_after_several_cases_are_void(
    dispatcher: Dispatcher,
) -> None:
    cases = [GOOD, attack("corrupt_for_later")]

    assert all(isinstance(one, Passed) for one in outcomes_of(dispatcher, *cases))

    (void,) = prove(dispatcher)
    assert len(void.cases) == len(cases)


@pytest.mark.parametrize("version", [0, 7])
def test_the_memory_of_another_worker_is_out_of_reach(version: int) -> None:
    with landlock(version) as held, Dispatcher(lanes=2) as running:
        server = started(running, held)
        sleeping = ApiCall(api="time.sleep", kind=CallKind.FUNCTION, arguments=(LiteralValue(0.8),))
        running.add(Job("planted", "sleeper", (encoded(sleeping),)))
        running.wait(0.5)
        (forking,) = children_of(server.process_id)
        assert len(children_of(forking)) == 1

        running.add(Job("planted", "attacker", (encoded(attack("other_cells", forking)),)))
        results: list[JobResult] = []
        while len(results) < 2:
            results += running.wait(5.0)

    (outcome,) = next(r.outcomes for r in results if r.job.key == "attacker")
    assert isinstance(outcome, Passed)
    assert outcome.encoded == b'["i","0"]'


# --- messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["F", "D", "S", "DDDD", "D" * 13, "\0" * 1000])
def test_worker_that_breaks_the_protocol_blames_only_its_case(
    dispatcher: Dispatcher, text: str
) -> None:
    before, blamed, after = outcomes_of(dispatcher, GOOD, attack("say", text), GOOD)

    assert isinstance(before, Passed)
    assert isinstance(blamed, Crashed)
    assert blamed.cause == BROKEN
    assert after == replace(before, cost_s=after.cost_s if isinstance(after, Passed) else 0.0)


def test_early_results_do_not_count_for_later_jobs(dispatcher: Dispatcher) -> None:
    for number, case in enumerate([attack("say", "DD"), call("leak", 0), call("leak", 1)]):
        dispatcher.add(Job("planted", number, (encoded(case),)))
    outcomes: dict[object, Outcome] = {}
    while len(outcomes) < 3:
        outcomes |= {result.job.key: result.outcomes[0] for result in dispatcher.wait(5.0)}

    first, second, third = (outcomes[number] for number in range(3))
    assert isinstance(first, Crashed)
    assert isinstance(second, Errored)
    assert isinstance(third, Passed)
    assert third.encoded == b'["i","1"]'


def test_a_flood_of_messages_ends_at_once(dispatcher: Dispatcher) -> None:
    began = time.monotonic()

    flooding, after = outcomes_of(dispatcher, attack("flood", "F"), GOOD)

    assert time.monotonic() - began < 10
    assert isinstance(flooding, Crashed)
    assert flooding.cause == BROKEN
    assert isinstance(after, Passed)


def test_a_worker_that_reads_nothing_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_monitor, "_SILENCE_S", 2.0)
    large = call("tail", "x" * 1_000_000)
    with Dispatcher() as running:
        server_of(running)
        outcomes_of(running, attack("turn_deaf"))
        began = time.monotonic()

        outcomes = outcomes_of(running, *[large] * 8)

    assert time.monotonic() - began < 20
    assert all(isinstance(outcome, Passed) for outcome in outcomes)


def test_worker_that_ignores_termination_ends_when_it_is_replaced() -> None:
    with Dispatcher() as running:
        (forking,) = children_of(server_of(running).process_id)
        deaf: set[int] = set()
        for number in range(4):
            cases = (encoded(attack("turn_deaf")), encoded(call("worker_pid")))
            running.add(Job("planted", number, cases, fresh=True))
            while not (results := running.wait(5.0)):
                pass
            (_, pid) = results[0].outcomes
            assert isinstance(pid, Passed)
            deaf.add(int(json.loads(pid.encoded)[1]))
        deadline = time.monotonic() + 10
        while deaf & set(children_of(forking)) and time.monotonic() < deadline:
            running.wait(0.1)

        assert len(deaf) == 4
        assert not deaf & set(children_of(forking))
        assert len(children_of(forking)) <= 1  # the spare worker


def test_a_call_that_claims_to_begin_again_and_again_hangs(dispatcher: Dispatcher) -> None:
    hung, after = outcomes_of(dispatcher, attack("run_for_ever"), GOOD)

    assert isinstance(hung, Hung)
    assert isinstance(after, Passed)


def test_a_worker_cannot_stop_its_server(dispatcher: Dispatcher) -> None:
    stopping, after = outcomes_of(dispatcher, attack("stop_server"), GOOD)

    assert isinstance(stopping, Rejected)
    assert stopping.exception == "PermissionError"
    assert isinstance(after, Passed)


def test_a_stopped_server_goes_on() -> None:
    with Dispatcher() as running:
        server = server_of(running)
        (forking,) = children_of(server.process_id)
        os.killpg(server.process_id, signal.SIGSTOP)
        assert wait_for_state(forking, "T")
        began = time.monotonic()

        (outcome,) = outcomes_of(running, GOOD)

    assert time.monotonic() - began < 15
    assert isinstance(outcome, Passed)


def wait_for_state(process: int, state: str) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        status = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
        if status.rpartition(") ")[2].startswith(state):
            return True
        time.sleep(0.01)
    return False


def test_a_server_that_answers_nothing_fails_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_STALLED_S", 0.5)
    monkeypatch.setattr(processes, "_ANSWER_TIMEOUT_S", 2.0)
    monkeypatch.setattr("signal.SIGCONT", 0)  # as if somebody stopped it again and again
    with Dispatcher() as running:
        server = server_of(running)
        os.killpg(server.process_id, signal.SIGSTOP)

        assert "its fork server no longer answers" in failure_of(running)


def test_stopped_servers_end_with_the_run_at_once() -> None:
    with Dispatcher() as running:
        names = ("first", "second")
        servers = running.start([replace(spec(), name=name) for name in names])
        for name in names:
            server = servers[name]
            assert isinstance(server, ServerProcess)
            os.killpg(server.process_id, signal.SIGSTOP)
        began = time.monotonic()

    assert time.monotonic() - began < 10


# --- canaries -------------------------------------------------------------------------------------


def test_worker_that_forges_passes_is_detected_by_canaries(
    dispatcher: Dispatcher,
) -> None:
    outcomes_of(dispatcher, GOOD)
    time.sleep(1.1)  # then canaries are due

    before, blamed, crash, error = outcomes_of(
        dispatcher, GOOD, attack("pretend"), call("fragile", -1), call("leak", 0)
    )

    assert isinstance(before, Passed)
    assert isinstance(blamed, Crashed)
    assert blamed.cause == "left a worker that gets known outcomes wrong"
    assert isinstance(crash, Crashed)
    assert crash.cause == "SIGSEGV"
    assert isinstance(error, Errored)


def test_results_before_a_failed_canary_are_void(dispatcher: Dispatcher) -> None:
    prove(dispatcher)
    outcomes_of(dispatcher, GOOD)
    time.sleep(1.1)
    outcomes_of(dispatcher, GOOD)  # with canaries: the next are due in a second only

    forged = outcomes_of(dispatcher, attack("pretend"), call("fragile", -1))
    void = prove(dispatcher)

    assert all(isinstance(outcome, Passed) for outcome in forged)
    assert [len(job.cases) for job in void] == [1, 1, 2]


def test_worker_that_survives_its_deliberate_crash_is_detected(dispatcher: Dispatcher) -> None:
    prove(dispatcher)
    outcomes_of(dispatcher, attack("pretend_for_calls", "ctypes.string_at"))
    outcomes_of(dispatcher, attack("pretend_for_calls", "os.abort"))

    assert len(prove(dispatcher)) == 2


def test_correct_workers_prove_all_results(dispatcher: Dispatcher) -> None:
    prove(dispatcher)
    cases = [GOOD, call("leak", 0), call("fragile", -1), call("meet", "sleep")]
    for case in cases:
        outcomes_of(dispatcher, case, GOOD)

    assert prove(dispatcher) == []


@pytest.mark.parametrize("how", ["exit", "gibibyte"])
def test_death_in_a_case_that_reports_no_fault_leaves_earlier_results_void(
    dispatcher: Dispatcher, how: str
) -> None:
    prove(dispatcher)
    outcomes_of(dispatcher, attack("pretend_for_calls", "planted.fragile"))
    forged = outcomes_of(dispatcher, call("fragile", -1))

    outcomes_of(dispatcher, GOOD, call("meet", how))
    void = prove(dispatcher)

    assert isinstance(forged[0], Passed)
    assert [len(job.cases) for job in void] == [1, 1, 2]


def test_careful_job_beside_others_puts_none_of_them_in_doubt(dispatcher: Dispatcher) -> None:
    prove(dispatcher)
    outcomes_of(dispatcher, GOOD)

    for case in (GOOD, call("meet", "exit"), GOOD):
        dispatcher.add(Job("planted", "careful", (encoded(case),), is_careful=True))
    while not dispatcher.is_idle:
        dispatcher.wait(1.0)

    assert prove(dispatcher) == []


@pytest.mark.parametrize("before", [1, 3])
def test_job_whose_worker_is_void_and_then_dies_of_a_fault_stays_void(before: int) -> None:
    running = Assignment(Job("planted", "test", (b"",) * 4), 0.0, [])
    running.outcomes += [Passed(b"", 0.0)] * before
    running.invalidate()
    running.batch_start = before

    running.invalidate()

    assert running.is_invalidated


def test_clear_queue_with_a_careful_job_waiting_keeps_that_job() -> None:
    careful = Job("planted", "careful", (encoded(GOOD),), is_careful=True)
    with Dispatcher() as running:
        server_of(running)
        running.add(Job("planted", "running", (encoded(GOOD),) * 200))
        running.add(Job("planted", "dropped", (encoded(GOOD),)))
        running.add(careful)

        running.clear_queue()
        results: list[JobResult] = []
        while not running.is_idle:
            results += running.wait(5.0)

    assert [result.job.key for result in results] == ["running", "careful"]


def test_canaries_are_not_outcomes(dispatcher: Dispatcher) -> None:
    for _ in range(4):
        outcomes = outcomes_of(dispatcher, *[GOOD] * 3)
        time.sleep(0.4)

        assert len(outcomes) == 3
        assert len({o.encoded for o in outcomes if isinstance(o, Passed)}) == 1


# --- deaths from outside --------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_case_of_an_externally_killed_worker_runs_again(number: signal.Signals) -> None:
    sleeping = ApiCall(api="time.sleep", kind=CallKind.FUNCTION, arguments=(LiteralValue(0.7),))
    with Dispatcher() as running:
        server = server_of(running)
        running.add(Job("planted", "test", tuple(map(encoded, (sleeping, GOOD)))))
        running.wait(0.4)
        (forking,) = children_of(server.process_id)
        (worker,) = children_of(forking)
        os.kill(worker, number)

        (result,) = running.wait(20)

    assert [type(outcome) for outcome in result.outcomes] == [Passed, Passed]


def test_case_killed_at_varying_places_ends_after_few_retries() -> None:
    running = Assignment(Job("planted", "test", (b"",) * 9), 0.0, [])

    retried = [running.may_retry(place) for place in (3, 5, 4)]

    assert retried == [True, True, False]
    assert running.is_cautious
    assert running.may_retry(7)


def test_case_that_always_kills_its_worker_is_reported(dispatcher: Dispatcher) -> None:
    (dead,) = outcomes_of(dispatcher, call("meet", "SIGKILL"))

    assert isinstance(dead, Crashed)
    assert dead.cause == "SIGKILL"


def children_of(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return list(map(int, listed.split()))
