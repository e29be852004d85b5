"""Workers on a device, a planted one: it starts confined, and the right case is blamed."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_planted import device_adapter
from planted_workers import spec_of

from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Outcome, Passed, Rejected
from ciguard.errors import WorkerStartError
from ciguard.execution import (
    Dispatcher,
    Job,
    Limits,
    ServerProcess,
    Unreadable,
    decode_outputs,
    kernel_log,
    probe_target,
    worker_handle,
)
from ciguard.execution.worker.landlock import landlock_abi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.execution import WorkerSpec

TARGET = "planted@cuda"
ARRAY = ["a", "float32", [2], ["k", 1]]
ADD = ["planted.device.add", "function", [ARRAY], [], [], 1]


def spec(**changes: Any) -> WorkerSpec:
    return replace(
        spec_of(name=TARGET),
        adapter=Path(device_adapter.__file__),
        device="cuda:0",
        limits=Limits(case_s=1.5, memory_mib=256),
        **changes,
    )


def case(function: str, *arguments: Any) -> list[Any]:
    return [f"planted.device.{function}", "function", list(arguments or [ARRAY]), [], [], 1]


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    with Dispatcher() as running:
        started = running.start([spec()])[TARGET]
        assert isinstance(started, ServerProcess), started
        yield running


def outcomes_of(dispatcher: Dispatcher, *cases: list[Any], session: int = 0) -> tuple[Outcome, ...]:
    encoded = tuple(json.dumps(one).encode() for one in cases)
    dispatcher.add(Job(TARGET, "test", encoded, session=session))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not dispatcher.failure(TARGET):
        for result in dispatcher.wait(1.0):
            return result.outcomes
    pytest.fail(dispatcher.failure(TARGET) or "no result within a minute")


def test_the_device_starts_in_confined_workers(dispatcher: Dispatcher) -> None:
    (outcome,) = outcomes_of(dispatcher, ADD)

    assert isinstance(outcome, Passed)


def test_confinement_holds_on_a_device_too(dispatcher: Dispatcher) -> None:
    leaks = {probe.name for probe in probe_target(dispatcher, spec()) if not probe.holds}

    with Dispatcher() as running:
        on_cpu = spec_of()
        started = running.start([on_cpu])[on_cpu.name]
        assert isinstance(started, ServerProcess), started
        # Older kernels hold less, on any device.
        assert leaks <= {p.name for p in probe_target(running, on_cpu) if not p.holds}


@pytest.mark.parametrize(
    "path", ["/proc/sys/kernel/core_pattern", "/proc/1/comm", "/proc/self/oom_score_adj"]
)
def test_of_proc_only_names_of_own_threads_can_be_written(
    dispatcher: Dispatcher, path: str
) -> None:
    (outcome,) = outcomes_of(dispatcher, ["builtins.open", "function", [path, "r+"], [], [], 1])

    is_refused = isinstance(outcome, Rejected) and outcome.exception == "PermissionError"
    assert is_refused or not landlock_abi()  # which alone rules files by their path


def test_start_of_the_device_does_not_count_for_the_first_case(dispatcher: Dispatcher) -> None:
    encoded = (json.dumps(ADD).encode(),)
    dispatcher.add(Job(TARGET, "test", encoded, fresh=True))
    (result,) = dispatcher.wait(30.0)

    (outcome,) = result.outcomes
    assert isinstance(outcome, Passed)
    assert outcome.cost_s < 0.3 <= result.elapsed_s  # which is what the planted context costs


def test_lost_device_is_attributed_to_the_responsible_call(dispatcher: Dispatcher) -> None:
    first, faulty, *others = outcomes_of(dispatcher, ADD, case("far"), ADD, ADD, ADD)

    assert isinstance(faulty, Crashed)
    assert faulty.cause == "CUDA illegal memory access"
    assert "an illegal memory access was encountered" in faulty.log
    assert all(isinstance(one, Passed) for one in (first, *others))


def test_crash_on_a_device_has_the_messages_of_its_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = tmp_path / "kmsg"
    messages.touch()
    monkeypatch.setattr(kernel_log, "KERNEL_MESSAGES", messages)
    fault = "NVRM: Xid (PCI:0000:0a:00): 31, pid=7, name=python, MMU Fault: faulted @ 0x7f29_5b8c"
    with Dispatcher() as running:
        assert isinstance(running.start([spec()])[TARGET], ServerProcess)
        messages.write_text(f"3,12,5140900,-;{fault}\n", encoding="utf-8")
        first, second = outcomes_of(running, case("far"), case("far"))

    assert isinstance(first, Crashed)
    assert first.log.endswith("\n" + fault.replace("pid=7, name=python, ", ""))
    assert isinstance(second, Crashed)
    assert "Xid" not in second.log


def test_library_that_ends_the_process_itself_loses_its_device(dispatcher: Dispatcher) -> None:
    faulty, after = outcomes_of(dispatcher, case("aborting"), ADD)

    assert isinstance(faulty, Crashed)
    assert faulty.cause == "CUDA illegal memory access"
    assert any(frame.function == "aborting" for frame in faulty.stack)
    assert isinstance(after, Passed)


def test_device_that_fails_on_is_lost_whatever_its_message(dispatcher: Dispatcher) -> None:
    faulty, after = outcomes_of(dispatcher, case("novel"), ADD)

    assert isinstance(faulty, Crashed)
    assert (faulty.cause, faulty.is_device_error) == ("CUDA device lost", True)
    assert "no version of this text has words" in faulty.log
    assert isinstance(after, Passed)


def test_worker_survives_a_late_error_that_does_not_stick(dispatcher: Dispatcher) -> None:
    process = ["os.getpid", "function", [], [], [], 1]
    before, faulty, after = outcomes_of(dispatcher, process, case("late"), process)

    assert isinstance(faulty, Errored)
    assert faulty.message == "CUDA error: invalid argument"
    assert isinstance(before, Passed)
    assert isinstance(after, Passed)
    assert before.encoded == after.encoded


def test_device_side_assertion_counts_as_a_rejection(dispatcher: Dispatcher) -> None:
    faulty, after = outcomes_of(dispatcher, case("asserted"), ADD)

    assert isinstance(faulty, Rejected)
    assert "device-side assert" in faulty.message
    assert isinstance(after, Passed)


def test_device_error_hidden_by_a_python_error_is_found(dispatcher: Dispatcher) -> None:
    faulty, after = outcomes_of(dispatcher, case("refused_after"), ADD)

    assert isinstance(faulty, Crashed)
    assert isinstance(after, Passed)


def test_non_sticky_device_error_is_internal(dispatcher: Dispatcher) -> None:
    faulty, after = outcomes_of(dispatcher, case("misconfigured"), ADD)

    assert isinstance(faulty, Errored)
    assert isinstance(after, Passed)


def test_device_memory_is_limited_and_released(dispatcher: Dispatcher) -> None:
    taken, refused, again = outcomes_of(
        dispatcher, case("take", 200 << 20), case("take", 100 << 20), case("take", 200 << 20)
    )

    assert isinstance(taken, Passed)
    assert isinstance(refused, Exhausted)
    assert isinstance(again, Passed)


def test_random_outputs_of_the_device_are_not_read(dispatcher: Dispatcher) -> None:
    drawn, added = outcomes_of(dispatcher, case("draw"), ADD)

    assert isinstance(drawn, Passed)
    assert isinstance(decode_outputs(drawn.encoded), Unreadable)
    assert isinstance(added, Passed)
    assert not isinstance(decode_outputs(added.encoded), Unreadable)


def test_a_kernel_without_end_hangs_and_the_lane_goes_on(dispatcher: Dispatcher) -> None:
    hung, after = outcomes_of(dispatcher, case("spin"), ADD)

    assert isinstance(hung, Hung)
    assert isinstance(after, Passed)


def test_peaks_and_growth_are_of_the_devices_memory(dispatcher: Dispatcher) -> None:
    peak, growth = outcomes_of(
        dispatcher,
        [["peak"], case("take", 8 << 20)],
        [["growth", 2, 2], case("take", 1 << 20)],
        session=1,
    )

    assert isinstance(peak, Passed)
    assert json.loads(peak.encoded)["values"] == [8 << 20]
    assert isinstance(growth, Passed)
    low, high = json.loads(growth.encoded)["values"]
    assert high - low == 2 << 20


def test_time_is_that_of_the_kernels_and_not_of_copies_before_them(
    dispatcher: Dispatcher,
) -> None:
    large = ["a", "float32", [1 << 18], ["k", 1]]
    plan = ["time", 1, 3]
    fast, slow = outcomes_of(
        dispatcher, [plan, case("add", large)], [plan, case("slow")], session=1
    )

    assert isinstance(fast, Passed)
    assert isinstance(slow, Passed)
    in_ns = 1e9
    assert min(json.loads(fast.encoded)["values"]) < 0.08 * in_ns  # the copy takes 0.1 s
    assert min(json.loads(slow.encoded)["values"]) >= 0.1 * in_ns


def test_script_that_loses_the_device_crashes_like_its_case(dispatcher: Dispatcher) -> None:
    script = "import planted.device\nplanted.device.far(1)\n"
    result = dispatcher.tasks(TARGET).run_script(script, limit_s=30.0)

    assert isinstance(result.death, Crashed)
    assert result.death.cause == "CUDA illegal memory access"


def test_target_with_an_unusable_device_is_not_run() -> None:
    busy = {**spec().variables, "PLANTED_DEVICE_BUSY": "1"}
    with Dispatcher() as running:
        started = running.start([spec(variables=busy)])[TARGET]

    assert isinstance(started, WorkerStartError)
    assert "the device 'cuda:0' cannot be used" in str(started)
    assert "busy or unavailable" in str(started)


def test_lost_device_in_a_mode_is_a_crash_of_its_call() -> None:
    with Dispatcher() as running:
        assert isinstance(running.start([spec(mode="graph")])[TARGET], ServerProcess)
        first, faulty, hidden, after = outcomes_of(
            running, ADD, case("far"), case("refused_after"), ADD
        )

    assert isinstance(first, Passed)
    assert isinstance(faulty, Crashed)
    assert faulty.cause == "CUDA illegal memory access"
    assert isinstance(hidden, Crashed)
    assert isinstance(after, Passed)


def test_workers_that_end_before_their_first_case_fail_the_target() -> None:
    taken = {**spec().variables, "PLANTED_DEVICE_TAKEN": "1"}
    with Dispatcher() as running:
        assert isinstance(running.start([spec(variables=taken)])[TARGET], ServerProcess)
        running.add(Job(TARGET, "test", (json.dumps(ADD).encode(),)))

        assert list(running.wait(30.0)) == []
        assert "its workers exit before they can take a case" in running.failure(TARGET)
        assert "another worker has taken it" in running.failure(TARGET)


def test_worker_that_survives_a_kill_does_not_block_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A process that waits for its driver in the kernel: here, one that nobody kills.
    monkeypatch.setattr(ServerProcess, "kill", lambda *_, **__: None)
    monkeypatch.setattr(worker_handle, "_KILL_TIMEOUT_S", 0.5)
    with Dispatcher() as running:
        assert isinstance(running.start([spec()])[TARGET], ServerProcess)
        hung, after = outcomes_of(running, case("spin"), ADD)

    assert isinstance(hung, Hung)
    assert isinstance(after, Passed)
