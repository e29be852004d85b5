"""What ciguard says of confinement on a machine: tried, not believed."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest
from planted_workers import landlock, spec_of, started
from surroundings import programs_without

from ciguard.campaign import run
from ciguard.config import CONFINE_ALWAYS, CONFINE_NEVER, CONFINE_WHERE_POSSIBLE, Config
from ciguard.domain.events import RunFinished, Warned
from ciguard.errors import ExitCode, PlatformError
from ciguard.execution import Dispatcher, probe_confinement, probe_target
from ciguard.execution.worker.attempts import ATTEMPTS
from ciguard.execution.worker.landlock import landlock_abi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.domain.events import Event

RULED_BY_LANDLOCK = {"file-read", "file-write", "file-beside", "memory-device"}
if os.geteuid():  # a worker of root's gives up what reading the process of another needs
    RULED_BY_LANDLOCK |= {"processes-read"}


def got_through(probes: object) -> set[str]:
    assert isinstance(probes, tuple)
    assert [probe.name for probe in probes] == [attempt.name for attempt in ATTEMPTS]
    return {probe.name for probe in probes if not probe.holds}


def test_a_machine_is_probed_without_any_target() -> None:
    assert got_through(probe_confinement()) == (set() if landlock_abi() else RULED_BY_LANDLOCK)


@pytest.mark.parametrize("version", range(8))
def test_attacks_that_the_kernel_does_not_block_are_named(version: int) -> None:
    with landlock(version) as spec, Dispatcher() as running:
        started(running, spec)

        probes = probe_target(running, spec)

    assert got_through(probes) == (set() if min(version, landlock_abi()) else RULED_BY_LANDLOCK)


def test_unconfined_worker_is_hardly_restricted() -> None:
    spec = spec_of(confine=False)
    with Dispatcher() as running:
        started(running, spec)

        probes = probe_target(running, spec)

    assert {"unix-socket", "signals", "memory-shared", "file-times"} <= got_through(probes)


# --- campaigns ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", str(programs_without("gdb")))
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    return tmp_path


def campaign(folder: Path, target: str, **changes: object) -> Iterator[Event]:
    settings: dict[str, object] = {
        "targets": (target,),
        "api": ("planted.double",),
        "budget_s": 20.0,
        "max_cases": 32,
        "out": folder / "run",
        "baseline": folder / "baseline",
        **changes,
    }
    yield from run(Config(**settings))  # type: ignore[arg-type]


def campaign_without_landlock(folder: Path, **changes: object) -> Iterator[Event]:
    with landlock(0) as spec:
        variables = shlex.join(f"{name}={value}" for name, value in spec.variables.items())
        yield from campaign(folder, f"current[planted] {variables}", **changes)


def test_a_long_path_of_the_folder_for_temporary_files_is_no_obstacle(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = folder.joinpath(*["a folder of a long name"] * 5)
    deep.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))

    *_, finished = campaign(folder, "current[planted]")

    assert isinstance(finished, RunFinished)
    assert finished.targets[0].unconfined == ()


def test_a_run_without_landlock_names_what_workers_are_not_refused(folder: Path) -> None:
    events = list(campaign_without_landlock(folder))

    (warning,) = (e.message for e in events if isinstance(e, Warned) and "landlock" in e.message)
    assert "this machine does not support landlock; these operations were not refused:" in warning
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    (target,) = finished.targets
    assert set(target.unconfined) == RULED_BY_LANDLOCK


def test_a_run_that_requires_confinement_ends_before_its_first_case(folder: Path) -> None:
    with pytest.raises(PlatformError) as raised:
        list(campaign_without_landlock(folder, confine=CONFINE_ALWAYS))

    assert raised.value.exit_code is ExitCode.USAGE
    assert "this machine does not support landlock" in str(raised.value)
    assert "confine = 'best-effort'" in str(raised.value)
    journal = folder / "run" / "journal.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    assert {json.loads(line)["type"] for line in lines} <= {"start"}


def test_run_without_confinement_warns(folder: Path) -> None:
    events = list(campaign(folder, "current[planted]", confine=CONFINE_NEVER))

    (warning,) = (e.message for e in events if isinstance(e, Warned) and "confine" in e.message)
    assert "its workers may do whatever the user of this process may" in warning
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert finished.targets[0].confined_by == ("reaper", "rlimits")


def test_a_run_that_requires_confinement_goes_on_where_it_holds(folder: Path) -> None:
    confine = CONFINE_ALWAYS if landlock_abi() else CONFINE_WHERE_POSSIBLE

    events = list(campaign(folder, "current[planted]", confine=confine))

    finished = events[-1]
    assert isinstance(finished, RunFinished)
    (target,) = finished.targets
    assert target.tally.passed > 16
    assert set(target.unconfined) == (set() if landlock_abi() else RULED_BY_LANDLOCK)
