"""The disk is full while a run works: a clear error, and nothing that was written is lost."""

from __future__ import annotations

import ctypes
import os
import resource
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import pytest
from ciguard_command import (
    answer,
    buckets_of,
    campaign,
    command,
    is_under_way,
    noted,
    run_of,
    started,
    wait_until,
)

from ciguard.campaign.journal import JOURNAL, read_journal
from ciguard.domain.parts import PARTS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

SIZE_MIB = 4


@pytest.fixture(autouse=True)
def _no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep Python from leaving torn bytecode in the checkout: it takes short writes for whole."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


class Disk(ABC):
    """A folder on which a running command can be made to find no space."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def fill(self, pid: int) -> None:
        """Leave no space for the command with that process id."""

    @abstractmethod
    def free(self) -> None:
        """Give the space back."""


class SmallDisk(Disk):
    """A file system of its own: what only root may mount."""

    def fill(self, pid: int) -> None:
        del pid
        with (
            (self.folder / "filler").open("wb", buffering=0) as filler,
            pytest.raises(OSError, match="No space left"),
        ):
            _write_until_it_fails(filler)

    def free(self) -> None:
        (self.folder / "filler").unlink()


def _write_until_it_fails(file: FileIO) -> None:
    while file.write(b"x" * 4096):
        continue


class LimitedFiles(Disk):
    """The kernel lets the command's files grow no further: what everybody may ask for."""

    def fill(self, pid: int) -> None:
        size = (self.folder / "out" / JOURNAL).stat().st_size
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))

    def free(self) -> None:
        """Nothing to do: the limit went with the process."""


def mounted(folder: Path) -> bool:
    """Return whether a small file system could be mounted there."""
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"size={SIZE_MIB}m,mode=777".encode()
    done: int = libc.mount(b"ciguard-test", os.fsencode(folder), b"tmpfs", 0, options)
    return done == 0


@pytest.fixture(params=[pytest.param(SmallDisk, marks=pytest.mark.slow), LimitedFiles])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """Make a disk; where nothing can be mounted, files are limited in both."""
    folder = tmp_path / "disk"
    folder.mkdir()
    is_mounted = request.param is SmallDisk and mounted(folder)
    kind = request.param if is_mounted else LimitedFiles
    yield kind(folder)
    if is_mounted:
        ctypes.CDLL(None).umount2(os.fsencode(folder), 2)


@pytest.mark.slow
def test_full_disk_is_an_error_and_the_campaign_can_be_resumed(
    disk: Disk, tmp_path: Path, uninterrupted: set[tuple[object, ...]]
) -> None:
    out = disk.folder / "out"
    with started(campaign("--out", str(out)), tmp_path) as process:
        assert wait_until(lambda: is_under_way(out)), process.communicate()
        disk.fill(process.pid)
        settled = noted(out, "bucket")
        stdout, stderr = process.communicate(timeout=60)
    past = read_journal(out)
    is_established = (tmp_path / ".ciguard" / "baseline").exists()
    disk.free()

    resumed = answer(command("run", "--resume", "--out", str(out)), tmp_path)

    assert process.returncode == 2, stdout + stderr
    assert f"{out / JOURNAL}: cannot be written:" in stderr
    assert "Free some space" in stderr
    assert "Traceback" not in stdout + stderr
    assert len(past.buckets) >= len(settled) >= 1
    assert not is_established
    assert resumed.returncode == 0, resumed.stderr
    assert buckets_of(out) == uninterrupted


def test_a_disk_that_is_full_before_anything_ran_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # coverage.py prints a traceback when it cannot write either.
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    folder = tmp_path / "full"
    folder.mkdir()

    with started(campaign("--out", "out"), tmp_path, TMPDIR=str(folder)) as process:
        # Before anything is written: what workers share needs more than this as well.
        _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, hard))
        stdout, stderr = process.communicate(timeout=60)

    assert process.returncode == 2, stdout + stderr
    assert "File too large. Free disk space in" in stderr
    assert "Traceback" not in stdout + stderr


def test_results_of_an_earlier_run_survive_a_full_disk(disk: Disk, tmp_path: Path) -> None:
    out = disk.folder / "out"
    short = ("--out", str(out), "--max-cases", "160", "--exclude", "*.spin")
    assert answer(campaign(*short), tmp_path).returncode == 0
    (out / JOURNAL).unlink()  # so that the next one is seen to begin
    # A run begins by removing what `ciguard merge` would take for its own.
    begun = {JOURNAL, PARTS_FILE}
    before = {p.name: p.read_bytes() for p in out.iterdir() if p.is_file() and p.name not in begun}

    with started(campaign("--out", str(out)), tmp_path) as process:
        assert wait_until(lambda: is_under_way(out)), process.communicate()
        disk.fill(process.pid)
        _, stderr = process.communicate(timeout=60)

    assert process.returncode == 2, stderr
    assert {name: (out / name).read_bytes() for name in before} == before
    assert run_of(out)["verdict"] == "BASELINE ESTABLISHED"
    assert len(buckets_of(out)) >= 3
