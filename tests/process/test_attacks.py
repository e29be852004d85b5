"""Attacks from inside a worker on daemons, processes and files that the test itself has made."""

from __future__ import annotations

import os
import resource
import socket
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from planted_workers import outcome_of, outcomes_of, spec_of, started

from ciguard.domain.outcomes import Exhausted, Outcome, Passed, Rejected, Resource
from ciguard.execution import Dispatcher
from ciguard.execution.worker import quota
from ciguard.execution.worker.reaper import processes

if TYPE_CHECKING:
    from collections.abc import Iterator

NETLINK, VSOCK, ALGORITHMS, PACKETS, MPTCP = 16, 40, 38, 17, 262


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    with Dispatcher() as running:
        started(running, spec_of())
        yield running


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    file = tmp_path / "victim"
    file.write_text("mine")
    file.chmod(0o644)
    os.setxattr(file, "user.kept", b"1")
    return file


def assert_refused(outcome: Outcome) -> None:
    assert isinstance(outcome, Rejected), outcome
    assert outcome.exception in {"PermissionError", "OSError"}, outcome


def state_of(file: Path) -> tuple[object, ...]:
    status = file.stat()
    attributes = sorted(os.listxattr(file))
    return file.read_text(), status.st_mode, status.st_uid, status.st_mtime_ns, attributes


# --- connections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", ["connect_to_daemon", "send_datagram"])
def test_worker_cannot_reach_a_daemon_on_a_unix_socket(dispatcher: Dispatcher, attack: str) -> None:
    kind = socket.SOCK_DGRAM if attack == "send_datagram" else socket.SOCK_STREAM
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as folder,  # the path of a socket is short
        socket.socket(socket.AF_UNIX, kind) as daemon,
    ):
        path = f"{folder}/daemon.sock"
        daemon.bind(path)
        if kind == socket.SOCK_STREAM:
            daemon.listen()
        daemon.settimeout(0)

        assert_refused(outcome_of(dispatcher, f"attacks.{attack}", path))

        with pytest.raises(BlockingIOError):
            daemon.recv(100) if kind == socket.SOCK_DGRAM else daemon.accept()


def test_worker_cannot_reach_a_daemon_on_an_abstract_socket(dispatcher: Dispatcher) -> None:
    name = f"ciguard-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind("\0" + name)
        daemon.listen()
        daemon.settimeout(0)

        assert_refused(outcome_of(dispatcher, "attacks.connect_abstract", name))

        with pytest.raises(BlockingIOError):
            daemon.accept()


def test_a_pair_of_sockets_still_connects_a_worker_with_itself(dispatcher: Dispatcher) -> None:
    assert isinstance(outcome_of(dispatcher, "attacks.connect_own_pair"), Passed)


@pytest.mark.parametrize(
    ("family", "kind", "protocol"),
    [
        (socket.AF_INET, socket.SOCK_STREAM, MPTCP),
        (socket.AF_INET, socket.SOCK_DGRAM, 0),
        (socket.AF_INET6, socket.SOCK_STREAM, 0),
        (NETLINK, socket.SOCK_RAW, 0),
        (VSOCK, socket.SOCK_STREAM, 0),
        (ALGORITHMS, socket.SOCK_SEQPACKET, 0),
        (PACKETS, socket.SOCK_RAW, 0),
        (socket.AF_UNIX, socket.SOCK_STREAM, 0),
    ],
)
def test_no_family_of_sockets_can_be_opened(
    dispatcher: Dispatcher, family: int, kind: int, protocol: int
) -> None:
    outcome = outcome_of(dispatcher, "attacks.open_family", int(family), int(kind), protocol)

    assert isinstance(outcome, Rejected)
    assert outcome.exception == "PermissionError"


def test_worker_cannot_create_an_io_uring(dispatcher: Dispatcher) -> None:
    assert_refused(outcome_of(dispatcher, "attacks.make_ring"))


# --- other processes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack",
    [
        "open_memory",
        "trace",
        "limit_cpu",
        "pin",
        "send_signal",
        "send_signal_to_thread",
        "queue_signal",
        "send_signal_to_handle",
        "send_signal_by_pipe",
    ],
)
def test_a_worker_reaches_neither_ciguard_nor_its_server(
    dispatcher: Dispatcher, attack: str
) -> None:
    limit = resource.getrlimit(resource.RLIMIT_CPU)
    server = server_of(dispatcher)

    reached = outcomes_of(
        dispatcher, *((f"attacks.{attack}", process) for process in (os.getpid(), server))
    )

    for outcome in reached:
        assert_refused(outcome)
    assert resource.getrlimit(resource.RLIMIT_CPU) == limit


def test_a_worker_takes_no_descriptor_of_ciguard_and_its_server(dispatcher: Dispatcher) -> None:
    taken = outcomes_of(
        dispatcher,
        *(
            ("attacks.steal_descriptor", process, descriptor)
            for process in (os.getpid(), server_of(dispatcher))
            for descriptor in range(8)
        ),
    )

    for outcome in taken:
        assert_refused(outcome)


def server_of(dispatcher: Dispatcher) -> int:
    """Return the process that forks the workers of the planted library."""
    (folder,) = filter(Path.is_dir, dispatcher.scratch.iterdir())
    return next(
        process.number
        for process in processes()
        if str(folder).encode() in command_of(process.number)
        and command_of(process.parent) != command_of(os.getpid())
        and parent_of(process.parent) == os.getpid()
    )


def command_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def parent_of(process: int) -> int:
    return next((known.parent for known in processes() if known.number == process), 0)


def test_a_worker_may_signal_and_limit_itself(dispatcher: Dispatcher) -> None:
    assert isinstance(outcome_of(dispatcher, "attacks.signal_itself"), Passed)


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["file", "map", "system v"])
def test_memory_that_no_limit_counts_is_refused(dispatcher: Dispatcher, how: str) -> None:
    assert_refused(outcome_of(dispatcher, "attacks.share_memory", how))


def test_memory_of_a_device_is_refused(dispatcher: Dispatcher) -> None:
    assert_refused(outcome_of(dispatcher, "attacks.map_zeros", 8))


@pytest.mark.parametrize("how", ["messages", "semaphores"])
def test_queues_that_outlive_a_worker_are_refused(dispatcher: Dispatcher, how: str) -> None:
    assert_refused(outcome_of(dispatcher, "attacks.make_queue", how))


# --- files of others ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack",
    [
        "set_time",
        "set_mode",
        "set_owner",
        "set_attribute",
        "remove_attribute",
        "set_attribute_anew",
        "handle_of",
        "cut_short",
    ],
)
def test_worker_cannot_change_files_of_others(
    dispatcher: Dispatcher, attack: str, victim: Path
) -> None:
    before = state_of(victim)

    assert_refused(outcome_of(dispatcher, f"attacks.{attack}", str(victim)))

    assert state_of(victim) == before


def test_a_worker_cannot_write_into_the_folder_of_another() -> None:
    with Dispatcher(lanes=2) as running:
        started(running, spec_of())
        outcome_of(running, "worker_pid")
        (first,) = (path for path in running.scratch.glob("*/*") if path.name.isdigit())
        other = first.with_name("999999999")
        other.mkdir()

        assert_refused(outcome_of(running, "attacks.write_beside", int(other.name)))

        assert list(other.iterdir()) == []


def test_a_worker_shares_no_folder_where_nothing_is_compiled(dispatcher: Dispatcher) -> None:
    outcome_of(dispatcher, "double", 2)

    folders = {path.name for path in dispatcher.scratch.glob("*/*") if path.is_dir()}

    assert folders
    assert all(map(str.isdigit, folders))


# --- the machine ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attack", "amount", "resource_"),
    [
        ("fill_disk", 2 * quota.MAX_BYTES // 2**20, Resource.OUTPUT),
        ("fill_deleted", 2 * quota.MAX_BYTES // 2**20, Resource.OUTPUT),
        ("fill_mapped", 2 * quota.MAX_BYTES // 2**20, Resource.OUTPUT),
        ("make_files", quota.MAX_FILES * 3 // 2, Resource.OUTPUT),
        ("start_threads", 3 * quota.MAX_THREADS, Resource.THREADS),
    ],
)
def test_worker_that_exceeds_its_quota_is_ended(
    attack: str, amount: int, resource_: Resource
) -> None:
    with Dispatcher() as running:
        started(running, spec_of())

        outcome = outcome_of(running, f"attacks.{attack}", amount)

        assert isinstance(outcome, Exhausted), outcome
        assert outcome.resource is resource_
        assert isinstance(outcome_of(running, "double", 2), Passed)


def test_worker_cannot_hide_used_resources(dispatcher: Dispatcher) -> None:
    assert_refused(outcome_of(dispatcher, "attacks.fill_hidden", 2 * quota.MAX_BYTES // 2**20))


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_daemon_that_a_case_leaves_ends_with_the_run() -> None:
    with Dispatcher() as running:
        server = started(running, spec_of(processes=True))
        outcome = outcome_of(running, "attacks.leave_daemon", "daemon")

        assert isinstance(outcome, Passed), outcome
        (note,) = running.scratch.glob("*/*/daemon")
        daemon = int(note.read_text())
        assert "reaper" in server.confined_by
    assert wait_until_gone(daemon)


@pytest.mark.parametrize(
    ("threads", "mib"), [(3 * quota.MAX_THREADS, 0), (0, 2 * quota.MAX_BYTES // 2**20)]
)
def test_a_daemon_that_a_case_leaves_is_ended_when_it_takes_too_much(
    threads: int, mib: int
) -> None:
    limits = replace(spec_of().limits, output_mib=2 * mib or 64)
    with Dispatcher() as running:
        started(running, spec_of(processes=True, limits=limits))
        outcome = outcome_of(running, "attacks.leave_daemon", "daemon", threads, mib)

        assert isinstance(outcome, Passed), outcome
        (note,) = running.scratch.glob("*/*/daemon")
        assert wait_until_gone(int(note.read_text()))
        assert isinstance(outcome_of(running, "double", 2), Passed)


def test_daemons_that_cases_leave_are_counted_together() -> None:
    half = quota.MAX_THREADS * 2 // 3
    with Dispatcher() as running:
        started(running, spec_of(processes=True))
        for name in ("one", "other"):
            assert isinstance(outcome_of(running, "attacks.leave_daemon", name, half), Passed)
        notes = [*running.scratch.glob("*/*/one"), *running.scratch.glob("*/*/other")]

        assert len(notes) == 2
        assert all(wait_until_gone(int(note.read_text())) for note in notes)


def test_daemon_within_its_quota_is_not_ended() -> None:
    with Dispatcher() as running:
        started(running, spec_of(processes=True))
        assert isinstance(outcome_of(running, "attacks.leave_daemon", "daemon", 8), Passed)
        (note,) = running.scratch.glob("*/*/daemon")
        time.sleep(1.5)  # three looks of the reaper

        os.kill(int(note.read_text()), 0)


def test_a_case_can_leave_no_daemon_where_cases_start_no_processes(dispatcher: Dispatcher) -> None:
    assert_refused(outcome_of(dispatcher, "attacks.leave_daemon", "daemon"))
