"""A campaign with a guarded target: silent errors of memory are found, confirmed and scripted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from surroundings import programs_without

from ciguard.campaign import run
from ciguard.config import Config
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Confirmation

if TYPE_CHECKING:
    from pathlib import Path

PLAIN, GUARDED = "current[planted]", "current[planted] guarded"
SILENT = ("planted.memory.overread", "planted.memory.stale")


def buckets(folder: Path, *targets: str, api: tuple[str, ...]) -> tuple[Bucket, ...]:
    config = Config(
        targets=targets,
        api=api,
        allow=("debug",),
        budget_s=120.0,
        max_cases=96,
        out=folder / "run",
        baseline=folder / "baseline",
    )
    *_, last = run(config)
    assert isinstance(last, RunFinished)
    return tuple(b for b in last.buckets if b.confirmation is Confirmation.CONFIRMED)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", str(programs_without("gdb")))
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))


def test_silent_errors_are_found_and_shown_by_their_scripts(tmp_path: Path) -> None:
    found = buckets(tmp_path, PLAIN, GUARDED, api=(*SILENT, "planted.double"))

    guarded = [bucket for bucket in found if bucket.finding.targets == (GUARDED,)]
    kinds = {(b.finding.api, b.finding.oracle, b.finding.kind) for b in guarded}
    assert kinds == {
        ("planted.memory.overread", "memory", "out-of-bounds-read"),
        ("planted.memory.stale", "memory", "use-after-free"),
    }
    # What an invalid read returns on the plain target may differ from call to call.
    others = {(b.finding.oracle, b.finding.kind) for b in found if b not in guarded}
    assert others <= {("metamorphic", "same call twice")}
    stale = next(b for b in found if b.finding.api == "planted.memory.stale")
    assert stale.reproduced
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    shown = subprocess.run(
        [sys.executable, str(tmp_path / "run" / stale.reproducer)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert shown.returncode == -signal.SIGSEGV
    assert "memory guard: use after free: 0 bytes into a block" in shown.stderr


def test_valid_calls_are_no_findings_and_differences_are_left_to_others(tmp_path: Path) -> None:
    assert buckets(tmp_path, GUARDED, api=("planted.double", "planted.tail", "planted.leak")) == ()
