"""Attacks on kernels whose Landlock is older, or that have none: what seccomp holds by itself."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

import pytest
from planted_workers import landlock, outcome_of, outcomes_of, started

from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.execution import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OLDEST_FOR_FILES, OLDEST_FOR_SCOPES = 1, 6


@pytest.fixture(scope="module", params=[0, 1, 2, 3, 4, 5, 6, 7])
def abi(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def dispatcher(abi: int) -> Iterator[Dispatcher]:
    with landlock(abi) as spec, Dispatcher() as running:
        started(running, spec)
        yield running


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    file = tmp_path / "victim"
    file.write_text("mine")
    return file


def assert_refused(outcome: Outcome) -> None:
    assert isinstance(outcome, Rejected), outcome
    assert outcome.exception in {"PermissionError", "OSError"}, outcome


@pytest.mark.parametrize(
    "attack",
    [
        "send_signal",
        "send_signal_to_thread",
        "queue_signal",
        "send_signal_to_handle",
        "send_signal_by_pipe",
        "trace",
        "limit_cpu",
        "pin",
    ],
)
def test_worker_cannot_reach_other_processes(dispatcher: Dispatcher, attack: str) -> None:
    limit = resource.getrlimit(resource.RLIMIT_CPU)

    assert_refused(outcome_of(dispatcher, f"attacks.{attack}", os.getpid()))

    assert resource.getrlimit(resource.RLIMIT_CPU) == limit


def test_worker_cannot_connect_or_create_an_io_uring(
    dispatcher: Dispatcher, tmp_path: Path
) -> None:
    outcomes = outcomes_of(
        dispatcher,
        ("attacks.connect_abstract", "ciguard-test"),
        ("attacks.connect_to_daemon", str(tmp_path / "daemon")),
        ("connect", 80),
        ("attacks.make_ring",),
    )

    for outcome in outcomes:
        assert isinstance(outcome, Rejected)
        assert outcome.exception in {"PermissionError", "OSError"}
        assert "[Errno 2]" not in outcome.message  # refused before anybody looked for the path


@pytest.mark.parametrize(
    "attack", ["set_time", "set_mode", "set_owner", "set_attribute", "cut_short"]
)
def test_worker_cannot_change_times_mode_or_owner_of_a_file(
    dispatcher: Dispatcher, attack: str, victim: Path
) -> None:
    before = victim.stat()

    assert_refused(outcome_of(dispatcher, f"attacks.{attack}", str(victim)))

    after = victim.stat()
    assert (after.st_mtime_ns, after.st_mode, after.st_uid) == (
        *(before.st_mtime_ns, before.st_mode, before.st_uid),
    )
    assert victim.read_text() == "mine"


def test_worker_with_landlock_cannot_delete_files(
    dispatcher: Dispatcher, abi: int, victim: Path
) -> None:
    outcome = outcome_of(dispatcher, "remove", str(victim))

    assert isinstance(outcome, Rejected) is (abi >= OLDEST_FOR_FILES)
    assert victim.exists() is (abi >= OLDEST_FOR_FILES)


def test_confined_by_names_the_mechanisms_of_the_kernel(abi: int) -> None:
    with landlock(abi) as spec, Dispatcher() as running:
        held = set(started(running, spec).confined_by)

        assert isinstance(outcome_of(running, "double", 2), Passed)
    assert ("landlock" in held) is (abi >= OLDEST_FOR_FILES)
    assert ("scopes" in held) is (abi >= OLDEST_FOR_SCOPES)
    assert {"rlimits", "capabilities", "seccomp", "reaper"} <= held
