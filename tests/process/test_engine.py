"""The engine with real processes, on the planted library: whatever a case does is told apart."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import planted
import pytest
from ciguard_planted import adapter as planted_adapter

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import Case, case_to_json
from ciguard.domain.outcomes import (
    Crashed,
    Errored,
    Exhausted,
    Hung,
    Outcome,
    Passed,
    Rejected,
    Resource,
    Stage,
)
from ciguard.domain.programs import ProgramCase
from ciguard.domain.values import ListValue, LiteralValue, TensorValue, Uniform, Value
from ciguard.errors import WorkerStartError
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess, WorkerSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = Limits(case_s=1.0, memory_mib=256)
TENSOR = TensorValue("float32", (2,), Uniform(5, -1.0, 1.0))


def spec(name: str = "planted", **changes: object) -> WorkerSpec:
    folders = {Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent}
    settings: dict[str, object] = {
        "name": name,
        "python": Path(sys.executable),
        "adapter": Path(planted_adapter.__file__),
        "readable": (Path(sys.prefix), Path(sys.base_prefix), *folders),
        "limits": LIMITS,
        **changes,
    }
    return WorkerSpec(**settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    with Dispatcher() as running:
        started = running.start([spec()])["planted"]
        assert isinstance(started, ServerProcess), started
        yield running


def call(function: str, *arguments: object) -> ApiCall:
    values: tuple[Value, ...] = tuple(
        a if isinstance(a, (TensorValue, ListValue)) else LiteralValue(a)  # type: ignore[arg-type]
        for a in arguments
    )
    return ApiCall(api=f"planted.{function}", kind=CallKind.FUNCTION, arguments=values)


def encoded(case: Case) -> bytes:
    return json.dumps(case_to_json(case)).encode()


def outcomes_of(dispatcher: Dispatcher, *cases: Case, target: str = "planted") -> list[Outcome]:
    dispatcher.add(Job(target, "test", tuple(map(encoded, cases))))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for result in dispatcher.wait(1.0):
            return list(result.outcomes)
    pytest.fail("no result within a minute")


def test_a_call_returns_its_outputs(dispatcher: Dispatcher) -> None:
    (outcome,) = outcomes_of(dispatcher, call("double", TENSOR))

    assert isinstance(outcome, Passed)
    assert outcome.encoded.startswith(b'["T","float32",[2],')


@pytest.mark.parametrize("how", ["SIGSEGV", "SIGABRT", "SIGFPE", "SIGKILL"])
def test_a_signal_is_blamed_on_its_case_only(dispatcher: Dispatcher, how: str) -> None:
    before, dead, after = outcomes_of(
        dispatcher, call("double", TENSOR), call("meet", how), call("double", TENSOR)
    )

    assert isinstance(before, Passed)
    assert isinstance(dead, Crashed)
    assert dead.cause == how
    assert isinstance(after, Passed)
    assert after.encoded == before.encoded


def test_a_crash_carries_the_python_stack_of_the_dying_call(dispatcher: Dispatcher) -> None:
    (dead,) = outcomes_of(dispatcher, call("fragile", -1))

    assert isinstance(dead, Crashed)
    assert [frame.function for frame in dead.stack] == ["string_at", "fragile"]
    assert not any(frame.file.startswith("/") for frame in dead.stack)


def test_a_failed_check_is_in_the_log_of_its_own_case(dispatcher: Dispatcher) -> None:
    dead, other = outcomes_of(dispatcher, call("checked", 2000), call("fragile", -1))

    assert isinstance(dead, Crashed)
    assert "Check failed: n <= 1000 (2000 vs. 1000)" in dead.log
    assert isinstance(other, Crashed)
    assert "Check failed" not in other.log


def test_an_exit_is_a_crash(dispatcher: Dispatcher) -> None:
    (dead,) = outcomes_of(dispatcher, call("meet", "exit"))

    assert dead == Crashed("exit 3", (), "")


def test_an_endless_loop_is_a_hang_with_its_stack(dispatcher: Dispatcher) -> None:
    hung, after = outcomes_of(dispatcher, call("spin", -1), call("spin", 1))

    assert isinstance(hung, Hung)
    assert hung.stack[0].function == "spin"
    assert isinstance(after, Passed)


def test_a_sleeping_call_is_a_hang(dispatcher: Dispatcher) -> None:
    (hung,) = outcomes_of(dispatcher, call("meet", "sleep"))

    assert isinstance(hung, Hung)


def test_preliminary_timeout_ends_a_case_early_without_a_stack(dispatcher: Dispatcher) -> None:
    cases = call("spin", 1), call("spin", -1), call("double", TENSOR)
    job = Job("planted", "test", tuple(map(encoded, cases)), first_limit_s=0.3, max_hangs=3)
    dispatcher.add(job)

    (result,) = [result for _ in range(100) for result in dispatcher.wait(0.1)]
    before, hung, after = result.outcomes

    assert isinstance(before, Passed)
    assert hung == Hung(0.3)
    assert isinstance(after, Passed)


def test_a_job_that_stops_at_a_crash_skips_the_remaining_cases(dispatcher: Dispatcher) -> None:
    cases = call("double", TENSOR), call("fragile", -1), call("double", TENSOR)
    dispatcher.add(Job("planted", "test", tuple(map(encoded, cases)), stops_at_crash=True))

    (result,) = [result for _ in range(100) for result in dispatcher.wait(0.1)]

    assert [type(outcome) for outcome in result.outcomes] == [Passed, Crashed]


def test_only_slow_cases_have_the_longer_preliminary_timeout(dispatcher: Dispatcher) -> None:
    usual, slow = encoded(call("spin", -1)), encoded(call("spin", -2))
    slow_cases = frozenset({slow})
    job = Job("planted", "test", (usual, slow), limit_s=1.5, first_limit_s=0.3)
    dispatcher.add(replace(job, slow_cases=slow_cases))

    (result,) = [result for _ in range(200) for result in dispatcher.wait(0.1)]

    assert result.outcomes == (Hung(0.3), Hung(1.5))


def test_a_program_has_a_limit_of_its_own_whoever_runs_it() -> None:
    def sleeping(seconds: float) -> ProgramCase:
        return ProgramCase(api="planted", source=f"import time\ntime.sleep({seconds})\n")

    with Dispatcher() as running:
        running.start([spec(limits=Limits(case_s=0.5, program_s=3.0, memory_mib=256))])
        done, call_hung, program_hung = outcomes_of(
            running, sleeping(1.5), call("meet", "sleep"), sleeping(60)
        )

    assert isinstance(done, Passed)
    assert isinstance(call_hung, Hung)
    assert call_hung.limit_s == 0.5
    assert isinstance(program_hung, Hung)
    assert program_hung.limit_s == 3.0


@pytest.mark.parametrize(
    ("how", "resource"), [("flood", Resource.OUTPUT), ("gibibyte", Resource.OUTPUT)]
)
def test_too_much_output_ends_the_case(
    dispatcher: Dispatcher, how: str, resource: Resource
) -> None:
    (ended,) = outcomes_of(dispatcher, call("meet", how))

    assert isinstance(ended, Exhausted)
    assert ended.resource is resource


def test_a_runaway_allocation_meets_the_memory_limit() -> None:
    with Dispatcher() as running:
        running.start([spec(limits=Limits(case_s=20.0, memory_mib=128))])

        eaten, after = outcomes_of(running, call("meet", "memory"), call("double", TENSOR))

    assert isinstance(eaten, Exhausted)
    assert eaten.resource is Resource.MEMORY
    assert isinstance(after, Passed)


def test_memory_left_by_earlier_cases_does_not_count_for_later_ones() -> None:
    with Dispatcher() as running:
        running.start([spec(limits=Limits(case_s=20.0, memory_mib=256))])

        outcomes = [outcomes_of(running, call("meet", "hoard"))[0] for _ in range(20)]

    assert all(isinstance(outcome, Passed) for outcome in outcomes)


def test_an_internal_error_keeps_its_frames(dispatcher: Dispatcher) -> None:
    (errored,) = outcomes_of(dispatcher, call("leak", 0))

    assert isinstance(errored, Errored)
    assert errored.exception == "SystemError"
    assert errored.stack[0].function == "leak"


def test_a_clean_error_is_a_rejection(dispatcher: Dispatcher) -> None:
    (rejected,) = outcomes_of(dispatcher, call("divide", "text"))

    assert isinstance(rejected, Rejected)
    assert rejected.exception == "TypeError"
    assert rejected.stage is Stage.CALL


def test_a_message_does_not_hold_the_random_name_of_the_workers_folder(
    dispatcher: Dispatcher,
) -> None:
    (outcome,) = outcomes_of(dispatcher, call("read", "~/absent.txt"))

    assert isinstance(outcome, Rejected)
    assert outcome.message.endswith("/absent.txt'")
    assert "'/tmp/" in outcome.message
    assert "ciguard" not in outcome.message


def test_unbuildable_argument_is_inconclusive(dispatcher: Dispatcher) -> None:
    unknown = TensorValue("float32", (2, 3), Uniform(0, 0.0, 1.0))
    case = ApiCall(api="planted.nothing", kind=CallKind.FUNCTION, arguments=(unknown,))

    (rejected,) = outcomes_of(dispatcher, case)

    assert isinstance(rejected, Rejected)
    assert rejected.stage is Stage.BUILD


def test_case_that_closes_the_descriptors_of_its_worker_is_detected(dispatcher: Dispatcher) -> None:
    dead, after = outcomes_of(dispatcher, call("close_everything"), call("double", TENSOR))

    assert isinstance(dead, Crashed)
    assert dead.cause == "closed the worker's descriptors"
    assert isinstance(after, Passed)


def test_a_fork_bomb_stays_inside_its_case(dispatcher: Dispatcher) -> None:
    bomb, after = outcomes_of(dispatcher, call("meet", "fork bomb"), call("double", TENSOR))

    assert isinstance(bomb, Hung)
    assert isinstance(after, Passed)


def test_outputs_larger_than_the_cell_are_all_delivered(dispatcher: Dispatcher) -> None:
    long = ListValue(tuple(LiteralValue("x" * 2000) for _ in range(60)))
    cases = [call("tail", long, LiteralValue(60).value) for _ in range(60)]

    outcomes = outcomes_of(dispatcher, *cases)

    assert len(outcomes) == 60
    assert all(isinstance(outcome, Passed) for outcome in outcomes)


# --- confinement ----------------------------------------------------------------------------------


def test_a_worker_cannot_delete_a_file_outside_its_folder(
    dispatcher: Dispatcher, tmp_path: Path
) -> None:
    victim = tmp_path / "precious"
    victim.write_text("mine")

    (refused,) = outcomes_of(dispatcher, call("remove", str(victim)))

    assert isinstance(refused, Rejected)
    assert refused.exception == "PermissionError"
    assert victim.read_text() == "mine"


def test_a_worker_may_write_its_own_folder(dispatcher: Dispatcher) -> None:
    (removed,) = outcomes_of(dispatcher, call("remove", "nothing-here"))

    assert isinstance(removed, Rejected)
    assert removed.exception == "FileNotFoundError"


def test_a_worker_cannot_read_the_token_of_the_job(dispatcher: Dispatcher, tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("s3cret")
    environ = f"/proc/{os.getpid()}/environ"

    from_file, from_parent, names = outcomes_of(
        dispatcher, call("read", str(token_file)), call("read", environ), call("environment")
    )

    assert isinstance(from_file, Rejected)
    assert isinstance(from_parent, Rejected)
    assert isinstance(names, Passed)
    assert b"TOKEN" not in names.encoded
    assert b"PATH" not in names.encoded


def test_a_worker_inherits_nothing_of_the_jobs_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "s3cret")
    with Dispatcher() as running:
        running.start([spec()])

        (names,) = outcomes_of(running, call("environment"))

    assert isinstance(names, Passed)
    assert b"GITHUB_TOKEN" not in names.encoded


def test_a_worker_cannot_open_a_network_connection(dispatcher: Dispatcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        (refused,) = outcomes_of(dispatcher, call("connect", port))

    assert isinstance(refused, Rejected)
    assert refused.exception == "PermissionError"


def test_a_worker_cannot_signal_the_guard(dispatcher: Dispatcher) -> None:
    script = (
        f"import os\ntry:\n    os.kill({os.getpid()}, 0)\nexcept PermissionError:\n    os._exit(7)"
    )

    result = dispatcher.tasks("planted").run_script(script, limit_s=10)

    assert result.exit_code == 7


def test_scripts_run_at_the_same_time_and_each_has_its_own_result(dispatcher: Dispatcher) -> None:
    sleep = "import os, time\nprint(time.monotonic())\ntime.sleep(5)\nprint(time.monotonic())"

    *slept, hung = dispatcher.tasks("planted").run_scripts(
        [(sleep, 30.0), (f"{sleep}\nos._exit(7)", 30.0), ("while True: pass", 0.5)]
    )

    assert [result.exit_code for result in slept] == [0, 7]
    assert isinstance(hung.death, Hung)
    began, ended = zip(*(map(float, result.log.split()) for result in slept), strict=True)
    assert max(began) < min(ended)


# --- servers --------------------------------------------------------------------------------------


def test_docstrings_are_read_of_the_apis_that_exist(dispatcher: Dispatcher) -> None:
    names = ["planted.double", "planted.absent_function", "planted.Layer"]

    docstrings = dispatcher.tasks("planted").docstrings(names)

    assert docstrings["planted.double"] == "Return twice `x`."
    assert "planted.absent_function" not in docstrings


def test_deprecation_warnings_of_a_call_are_returned(dispatcher: Dispatcher) -> None:
    tasks = dispatcher.tasks("planted")
    deprecated = ApiCall(api="locale.getdefaultlocale", kind=CallKind.FUNCTION)

    (message,) = tasks.deprecation_warnings(case_to_json(deprecated), limit_s=10.0)

    assert "getlocale() instead" in message or "deprecated" in message  # as Python's version says
    assert tasks.deprecation_warnings(case_to_json(call("double", 1)), limit_s=10.0) == []
    assert tasks.deprecation_warnings(case_to_json(call("fragile", -1)), limit_s=10.0) == []


def test_the_catalogue_of_a_target_is_described(dispatcher: Dispatcher) -> None:
    lines = list(dispatcher.tasks("planted").describe())

    records = {line["api"]: line for line in lines if "api" in line}
    assert records["planted.Affine"]["kind"] == "layer"
    assert records["planted.remove"]["tags"] == ["files"]
    assert {line["skipped"] for line in lines if "api" not in line} == {
        "planted.absent",
        "planted.odd.hostile",
    }


def test_script_that_crashes_is_distinguished_from_one_that_raises(dispatcher: Dispatcher) -> None:
    died = dispatcher.tasks("planted").run_script("import planted\nplanted.fragile(-1)", limit_s=10)
    raised = dispatcher.tasks("planted").run_script("import planted\nplanted.leak(0)", limit_s=10)
    ended = dispatcher.tasks("planted").run_script("import planted\nplanted.leak(1)", limit_s=10)
    hung = dispatcher.tasks("planted").run_script("while True: pass", limit_s=0.5)

    assert isinstance(died.death, Crashed)
    assert died.death.cause == "SIGSEGV"
    assert (raised.exit_code, raised.death) == (1, None)
    assert "planted internal error" in raised.log
    assert (ended.exit_code, ended.death) == (0, None)
    assert isinstance(hung.death, Hung)


def test_a_library_that_cannot_be_imported_is_a_clear_error(tmp_path: Path) -> None:
    broken = tmp_path / "adapter.py"
    broken.write_text(
        "from ciguard.libraries.in_target.contract import Adapter\n"
        "class ADAPTER(Adapter):\n    module = 'no_such_library'\n"
    )
    with Dispatcher() as running:
        started = running.start([spec("broken==1", adapter=broken)])["broken==1"]

    assert isinstance(started, WorkerStartError)
    assert "broken==1: the library cannot be loaded" in str(started)
    assert "no_such_library" in str(started)


def test_an_interpreter_that_ends_at_once_is_a_clear_error() -> None:
    with Dispatcher() as running:
        started = running.start([spec("odd", python=Path("/bin/false"))])["odd"]

    assert isinstance(started, WorkerStartError)
    assert "odd: its interpreter exited" in str(started)


def test_crash_of_the_fork_server_fails_the_target_and_not_the_run() -> None:
    with Dispatcher() as running:
        server = running.start([spec()])["planted"]
        assert isinstance(server, ServerProcess)
        assert outcomes_of(running, call("double", TENSOR))
        os.killpg(server.process_id, 9)
        time.sleep(0.5)  # its workers die with it, but not in the same instant

        running.add(Job("planted", "lost", (encoded(call("double", TENSOR)),)))
        deadline = time.monotonic() + 20
        while not running.failure("planted") and time.monotonic() < deadline:
            running.wait(0.1)

        assert "its fork server exited" in running.failure("planted")
        running.add(Job("planted", "late", (encoded(call("double", TENSOR)),)))
        assert running.is_idle


def test_a_fresh_job_runs_in_a_worker_of_its_own(dispatcher: Dispatcher) -> None:
    outcomes_of(dispatcher, call("double", TENSOR))
    pids: set[bytes] = set()
    for number in range(3):
        dispatcher.add(
            Job("planted", number, (encoded(call("worker_pid")),), fresh=True, perturb=0x55)
        )
    deadline = time.monotonic() + 20
    while len(pids) < 3 and time.monotonic() < deadline:
        for result in dispatcher.wait(0.5):
            (outcome,) = result.outcomes
            assert isinstance(outcome, Passed)
            pids.add(outcome.encoded)

    assert len(pids) == 3


def test_nothing_is_left_behind_when_the_dispatcher_closes() -> None:
    with Dispatcher() as running:
        server = running.start([spec()])["planted"]
        assert isinstance(server, ServerProcess)
        outcomes_of(running, call("double", TENSOR))
        scratch = running.scratch
        assert scratch.exists()
        group = server.process_id

    assert not scratch.exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


def test_every_process_walks_a_set_in_the_same_order() -> None:
    seen = []
    for _ in range(2):
        with Dispatcher() as running:
            running.start([spec()])
            seen += outcomes_of(
                running,
                ApiCall(
                    api="builtins.hash", kind=CallKind.FUNCTION, arguments=(LiteralValue("a"),)
                ),
            )

    first, second = seen
    assert isinstance(first, Passed)
    assert isinstance(second, Passed)
    assert first.encoded == second.encoded
