"""Decoding of a worker's records, exit status and log into an `Outcome`."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
from dataclasses import dataclass, replace

from ciguard.domain.memory_errors import invalid_access
from ciguard.domain.outcomes import (
    BROKEN_PROTOCOL,
    CLOSED_DESCRIPTORS,
    CORRUPTED_WORKER,
    Crashed,
    Errored,
    Exhausted,
    Frame,
    Hung,
    Outcome,
    Passed,
    Rejected,
    Resource,
    Stage,
)
from ciguard.execution.stacks import stack_line
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker import quota
from ciguard.execution.worker.messages import ASSERTION, DEVICE_LOST
from ciguard.libraries import cause_of_loss

MAX_LOG = 4000
"""Maximum size of the kept output of a crashed case, in bytes.

One half is its beginning, where a failed check is printed; the other half is its end, after the
stack that some libraries print."""
_READ_AT_ONCE = 32768
_OUT_OF_MEMORY = re.compile(r"std::bad_alloc|[Oo]ut of memory|Cannot allocate memory|MemoryError")
_PACKAGE_ROOT = re.compile(r"^.*/(?:site-packages|dist-packages|lib/python3\.\d+)/")
_OWN_FILES = "/ciguard/execution/worker/"
_CAUSE_OF_LOSS = re.compile(r"[A-Za-z ]{1,40}")


@dataclass(frozen=True, slots=True)
class WorkerExit:
    """Exit of a worker's process."""

    status: int
    """Wait status, as returned by `os.wait`."""
    peak_kib: int
    """Peak of the resident memory, in KiB."""
    killed_for: str = ""
    """Reason why the engine killed it; empty if it exited by itself.

    One of `time`, `memory`, `silence`, `protocol` and `canary`."""


def decode_record(record: cells.Record) -> Outcome:
    """Return the outcome of a case that returned or raised an exception."""
    status, cost_us, payload = record
    if status == cells.PASSED:
        return Passed(payload, cost_us / 1e6)
    name, message, frames = _decode_exception(payload)
    if status == cells.REJECTED:
        return Rejected(name, message)
    if status == cells.UNBUILT:
        return Rejected(name, message, Stage.BUILD)
    if status == cells.INEXPRESSIBLE:
        return Rejected(name, message, Stage.MODE)
    if status == cells.EXHAUSTED:
        return Exhausted(Resource.MEMORY, f"{name}: {message}")
    return Errored(name, message, frames)


@functools.lru_cache(maxsize=4096)  # few different messages occur, over and over
def _decode_exception(payload: bytes) -> tuple[str, str, tuple[Frame, ...]]:
    try:
        name, message, *rest = json.loads(payload)
        calls = rest[0] if rest else ()
        frames = tuple(
            Frame(_relative(str(file)), str(function), *map(str, source[:1]))
            for file, function, *source in calls
        )
    except (ValueError, TypeError, RecursionError):
        return "CorruptRecord", payload[:200].decode("latin-1"), ()
    return str(name), str(message), frames


def decode_exit(
    worker_exit: WorkerExit, *, log: str, stack: str, limit_s: float, on_device: bool = False
) -> Outcome:
    """Return the outcome of the case that was running when a worker exited.

    Args:
        worker_exit: exit of the worker.
        log: output of the worker.
        stack: stack that its fault handler wrote.
        limit_s: timeout of the case, in seconds.
        on_device: whether it computed on a device, which may be lost.
    """
    frames = parse_stack(stack)
    match worker_exit.killed_for:
        case "time":
            return Hung(limit_s, frames)
        case "memory":
            message = f"resident memory reached {worker_exit.peak_kib // 1024} MiB"
            return Exhausted(Resource.MEMORY, message, was_killed=True)
        case "protocol":
            return Crashed(BROKEN_PROTOCOL, frames, log)
        case "canary":
            return Crashed(CORRUPTED_WORKER, frames, log)
        case "silence":
            return Crashed(CLOSED_DESCRIPTORS, frames, log)
        case _:
            return _decode_status(worker_exit.status, frames, log, on_device=on_device)


def explained_by_guard(outcome: Outcome) -> Outcome:
    """Return the outcome of a worker under the memory guard, which reports errors in the log."""
    if not isinstance(outcome, Crashed) or outcome.cause != signal.SIGSEGV.name:
        return outcome
    access = invalid_access(outcome.log)
    return outcome if access is None else replace(outcome, cause=access.cause)


def _decode_status(status: int, frames: tuple[Frame, ...], log: str, *, on_device: bool) -> Outcome:
    if not os.WIFSIGNALED(status):
        return Crashed(f"exit {os.WEXITSTATUS(status)}", frames, log)
    number = os.WTERMSIG(status)
    if number == quota.TOO_MUCH_WRITTEN:  # the kernel sends it, too, if one file is too large
        return Exhausted(Resource.OUTPUT, "wrote more than one case may", was_killed=True)
    if number == quota.TOO_MANY_THREADS:
        message = f"more than {quota.MAX_THREADS} threads at a time"
        return Exhausted(Resource.THREADS, message, was_killed=True)
    aborted = _decode_abort(frames, log, on_device=on_device) if number == signal.SIGABRT else None
    return aborted or Crashed(signal_name(number), frames, log)


def _decode_abort(frames: tuple[Frame, ...], log: str, *, on_device: bool) -> Outcome | None:
    """Return the outcome of a case that aborted its process; None if the log gives no reason.

    A library may end the process itself if its device is lost, as XLA does.
    """
    if on_device and DEVICE_LOST in log:
        return _decode_device_loss(frames, log)
    if _OUT_OF_MEMORY.search(log):
        return Exhausted(Resource.MEMORY, log, was_killed=True)
    cause = cause_of_loss(log) if on_device else ""
    if cause == ASSERTION:
        return Rejected(signal_name(signal.SIGABRT), log)
    return Crashed.from_device_error(cause, frames, log) if cause else None


def _decode_device_loss(frames: tuple[Frame, ...], log: str) -> Outcome:
    """Return the outcome of a case after which the device no longer works.

    An assertion in a kernel is a rejection, as a kernel has no other way to refuse its arguments.
    """
    earlier, _, line = log.rpartition(DEVICE_LOST)
    cause, _, error = line.partition(": ")
    name, message, raised_in = _decode_exception(error.strip().encode())
    if cause == ASSERTION:
        return Rejected(name, message)
    if not _CAUSE_OF_LOSS.fullmatch(cause):  # the code under test writes to this log, too
        cause = "device lost"
    log = f"{earlier.strip()}\n{name}: {message}".strip()
    return Crashed.from_device_error(cause, raised_in or frames, log)


def signal_name(number: int) -> str:
    """Return the name of a signal, e.g. `SIGSEGV`; real-time signals are named by number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def parse_stack(text: str) -> tuple[Frame, ...]:
    """Return the Python frames of the crashed thread from a faulthandler dump, innermost first.

    A native thread has no Python frames. Then those of the main thread are returned, which show the
    call that started it.
    """
    threads: list[tuple[str, list[Frame]]] = []
    for line in text.splitlines():
        if line.startswith(("Thread 0x", "Current thread 0x")):
            threads.append((line, []))
        elif threads and (frame := stack_line(line)) and _OWN_FILES not in frame.file:
            threads[-1][1].append(Frame(_relative(frame.file), frame.function))
    current = [frames for title, frames in threads if title.startswith("Current") and frames]
    chosen = current or [frames for _, frames in threads if frames]
    return tuple(chosen[-1]) if chosen else ()


def _relative(file: str) -> str:
    """Return a path relative to its package root, or its last two parts outside packages."""
    relative = _PACKAGE_ROOT.sub("", file)
    return relative if relative != file else "/".join(file.rsplit("/", 2)[-2:])


def excerpt(data: bytes) -> str:
    """Return the beginning and the end of a log as printable text."""
    if len(data) > MAX_LOG:
        half = MAX_LOG // 2
        data = data[:half] + b"\n[...]\n" + data[-half:]
    return data.decode("utf-8", "backslashreplace")


def read_bounded(descriptor: int) -> bytes:
    """Return the content of an open file, or the beginning and the end of a large one."""
    size = os.fstat(descriptor).st_size
    head = os.pread(descriptor, _READ_AT_ONCE, 0)
    if size <= _READ_AT_ONCE:
        return head
    return head + os.pread(descriptor, _READ_AT_ONCE, max(_READ_AT_ONCE, size - _READ_AT_ONCE))
