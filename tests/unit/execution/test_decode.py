"""What a worker leaves behind becomes the right outcome."""

from __future__ import annotations

import json
import signal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ciguard.domain.outcomes import (
    Crashed,
    Errored,
    Exhausted,
    Frame,
    Hung,
    Passed,
    Rejected,
    Resource,
    Stage,
)
from ciguard.execution.decode import (
    MAX_LOG,
    WorkerExit,
    decode_exit,
    decode_record,
    excerpt,
    parse_stack,
)
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.messages import ASSERTION, DEVICE_LOST

DUMP = """Fatal Python error: Segmentation fault

Thread 0x00007f1c2b7fe700 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait

Current thread 0x00007f1c2c7ff740 (most recent call first):
  File "/env/lib/python3.11/site-packages/torch/nn/functional.py", line 552 in conv2d
  File "/opt/ciguard/execution/worker/loop.py", line 137 in execute
  File "/home/me/project/src/ext/ops.py", line 3 in call
"""


def test_the_stack_is_that_of_the_crashed_thread_without_ciguards_frames() -> None:
    assert parse_stack(DUMP) == (
        Frame("torch/nn/functional.py", "conv2d"),
        Frame("ext/ops.py", "call"),
    )


ERROR = '["AcceleratorError", "CUDA error: an illegal memory access", [["torch/nn.py", "conv"]]]'
ABORTED = WorkerExit(signal.SIGABRT, 0)


def test_a_lost_device_is_a_crash_with_its_cause_and_frames() -> None:
    log = f"printed\n{DEVICE_LOST}illegal memory access: {ERROR}\n"

    assert decode_exit(ABORTED, log=log, stack=DUMP, limit_s=5.0, on_device=True) == Crashed(
        "CUDA illegal memory access",
        (Frame("torch/nn.py", "conv"),),
        "printed\nAcceleratorError: CUDA error: an illegal memory access",
    )


def test_an_assertion_in_a_kernel_is_a_rejection() -> None:
    log = f'{DEVICE_LOST}{ASSERTION}: ["AcceleratorError", "asserted", []]\n'
    outcome = decode_exit(ABORTED, log=log, stack="", limit_s=5.0, on_device=True)

    assert outcome == Rejected("AcceleratorError", "asserted")


@pytest.mark.parametrize("line", ["", "![x](y): []", "a" * 99, "illegal: {", "<b>: [1]"])
def test_a_forged_line_of_a_lost_device_is_a_crash(line: str) -> None:
    log = f"{DEVICE_LOST}{line}\n"
    outcome = decode_exit(ABORTED, log=log, stack="", limit_s=5.0, on_device=True)

    assert isinstance(outcome, Crashed)
    assert outcome.cause in {"CUDA device lost", "CUDA illegal"}


XLA = """\
E cuda_event.cc:76] could not synchronize: CUDA_ERROR_{}: {}
F gpu_event_mgr.cc:292] Unexpected Event status: 1
"""


@pytest.mark.parametrize("on_device", [True, False])
def test_an_abort_of_the_library_is_named_after_the_error_of_the_device(*, on_device: bool) -> None:
    log = XLA.format("ILLEGAL_ADDRESS", "an illegal memory access was encountered")
    outcome = decode_exit(ABORTED, log=log, stack=DUMP, limit_s=5.0, on_device=on_device)

    assert isinstance(outcome, Crashed)
    assert outcome.cause == ("CUDA illegal memory access" if on_device else "SIGABRT")
    assert outcome.log == log
    assert outcome.stack


def test_an_abort_of_the_library_for_an_assertion_is_a_rejection() -> None:
    log = XLA.format("ASSERT", "device-side assert triggered")
    outcome = decode_exit(ABORTED, log=log, stack="", limit_s=5.0, on_device=True)

    assert outcome == Rejected("SIGABRT", log)


def test_another_abort_on_a_device_is_a_crash_of_the_process() -> None:
    outcome = decode_exit(ABORTED, log="Check failed", stack="", limit_s=5.0, on_device=True)

    assert isinstance(outcome, Crashed)
    assert outcome.cause == "SIGABRT"


def test_an_abort_on_a_cpu_is_always_a_crash() -> None:
    log = f'{DEVICE_LOST}{ASSERTION}: ["AcceleratorError", "asserted", []]\n'
    outcome = decode_exit(ABORTED, log=log, stack="", limit_s=5.0)

    assert isinstance(outcome, Crashed)
    assert outcome.cause == "SIGABRT"


def test_a_crashed_native_thread_shows_the_call_that_started_it() -> None:
    dump = (
        "Current thread 0x01 (most recent call first):\n  <no Python frame>\n\n"
        "Thread 0x02 (most recent call first):\n"
        '  File "/e/lib/python3.9/site-packages/tensorflow/op.py", line 1 in run\n'
    )

    assert parse_stack(dump) == (Frame("tensorflow/op.py", "run"),)


@given(st.text())
def test_any_text_is_accepted_as_a_stack(text: str) -> None:
    assert isinstance(parse_stack(text), tuple)


def death(status: int, killed_for: str = "") -> WorkerExit:
    return WorkerExit(status, 1024, killed_for)


def decoded(death: WorkerExit, log: str = "") -> object:
    return decode_exit(death, log=log, stack="", limit_s=5.0)


def test_a_signal_is_a_crash_with_its_name() -> None:
    assert decoded(death(signal.SIGSEGV), "log") == Crashed("SIGSEGV", (), "log")


def test_an_exit_is_a_crash_with_its_code() -> None:
    assert decoded(death(3 << 8)) == Crashed("exit 3", (), "")


def test_a_timeout_is_a_hang_although_a_signal_ended_the_worker() -> None:
    assert decoded(death(signal.SIGKILL, "time")) == Hung(5.0, ())


def test_an_abort_without_memory_is_exhaustion() -> None:
    outcome = decoded(death(signal.SIGABRT), "terminate called: std::bad_alloc")

    assert isinstance(outcome, Exhausted)
    assert outcome.resource is Resource.MEMORY
    assert outcome.was_killed


def test_a_segfault_that_mentions_memory_is_still_a_crash() -> None:
    assert isinstance(decoded(death(signal.SIGSEGV), "std::bad_alloc"), Crashed)


def test_too_much_output_is_exhaustion() -> None:
    outcome = decoded(death(signal.SIGXFSZ))

    assert isinstance(outcome, Exhausted)
    assert outcome.resource is Resource.OUTPUT


def record(status: int, *payload: object) -> cells.Record:
    return status, 1500, json.dumps(payload).encode()


def test_records_decode_by_status() -> None:
    assert decode_record((cells.PASSED, 1500, b"null")) == Passed(b"null", 0.0015)
    assert decode_record(record(cells.REJECTED, "E", "m")) == Rejected("E", "m")
    assert decode_record(record(cells.UNBUILT, "E", "m")) == Rejected("E", "m", Stage.BUILD)
    assert decode_record(record(cells.ERRORED, "E", "m", [["/a/b/c.py", "f"]])) == Errored(
        "E", "m", (Frame("b/c.py", "f"),)
    )


@given(st.sampled_from(sorted(cells.STATUSES)), st.binary())
@example(cells.ERRORED, b"[" * 100_000)
def test_a_garbled_payload_decodes_to_an_outcome(status: int, payload: bytes) -> None:
    outcome = decode_record((status, 0, payload))

    assert isinstance(outcome, (Passed, Rejected, Errored, Exhausted))


def test_a_failed_check_before_a_long_stack_is_kept() -> None:
    log = b"F tensor.cc:42] Check failed: a == b\n" + b"    @ 0x7f frame\n" * 5000 + b"the end"

    kept = excerpt(log)

    assert kept.startswith("F tensor.cc:42] Check failed: a == b\n")
    assert kept.endswith("the end")
    assert len(kept) < 2 * MAX_LOG


@pytest.mark.parametrize(
    ("status", "stage"),
    [
        (cells.REJECTED, Stage.CALL),
        (cells.UNBUILT, Stage.BUILD),
        (cells.INEXPRESSIBLE, Stage.MODE),
    ],
)
def test_a_rejection_names_its_stage(status: int, stage: Stage) -> None:
    outcome = decode_record((status, 5, b'["Unsupported","a graph has no values"]'))

    assert outcome == Rejected("Unsupported", "a graph has no values", stage)
