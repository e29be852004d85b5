"""Temporary folders of killed processes are removed, and those in use or of others are kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ciguard.execution.abandoned import sweep_abandoned
from ciguard.scratch import is_abandoned, scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWNER = """\
import sys, tempfile
from ciguard.scratch import scratch_prefix
folder = tempfile.mkdtemp(prefix=scratch_prefix("host"), dir=sys.argv[1])
open(folder + "/file", "w").close()
print(folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process with a temporary folder, whose path it prints."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def folder_of(owner: subprocess.Popen[str], beside: Path) -> Path:
    assert owner.stdout is not None
    return beside / owner.stdout.readline().strip()


def test_a_folder_is_removed_once_its_process_is_killed(
    owner: subprocess.Popen[str], tmp_path: Path
) -> None:
    folder = folder_of(owner, tmp_path)
    sweep_abandoned(tmp_path)
    assert (folder / "file").exists()

    owner.send_signal(signal.SIGKILL)
    owner.wait()
    sweep_abandoned(tmp_path)

    assert not folder.exists()


def test_a_reused_process_number_does_not_keep_a_folder(tmp_path: Path) -> None:
    kind, process, start, place, _ = scratch_prefix("run").split("-")[1:]
    own = tmp_path / f"ciguard-{kind}-{process}-{start}-{place}-x"
    older = tmp_path / f"ciguard-{kind}-{process}-{int(start) - 1}-{place}-x"
    for folder in (own, older):
        folder.mkdir()

    sweep_abandoned(tmp_path)

    assert own.exists()
    assert not older.exists()


def test_folders_of_others_links_and_other_names_are_kept(
    owner: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(owner, tmp_path)
    owner.kill()
    owner.wait()
    kind, process, start, place = folder.name.split("-")[1:5]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    names = (f"{process}-{start}-00000000", f"{process}-0-{place}", f"{process}-{start}-{place}")
    kept = [tmp_path / f"ciguard-{kind}-{name}-x" for name in names]
    kept[0].mkdir()
    kept[1].mkdir()
    kept[2].symlink_to(elsewhere)

    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    sweep_abandoned(tmp_path)
    assert folder.exists()
    monkeypatch.undo()
    sweep_abandoned(tmp_path)

    assert not folder.exists()
    assert all(path.exists() for path in (*kept, elsewhere))
    assert not any(map(is_abandoned, kept))
