"""Commands that a step of the action runs: what they see, what they say, how they are stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from action_runner import executed_commands

from ciguard.actions import run_command

if TYPE_CHECKING:
    import pytest

PROGRAM = """
import os, sys
from pathlib import Path
from ciguard.actions import run_command
sys.exit(run_command(sys.argv[1:], folder=Path.cwd(), environment=os.environ))
"""


def test_the_folder_at_hand_is_no_place_for_modules(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('taken over')\n", "utf-8")

    code = run_command(["version"], folder=tmp_path, environment=os.environ)

    said = capfd.readouterr()
    assert code == 0, said.err
    assert "taken over" not in said.out + said.err


def test_what_a_command_prints_is_fenced_and_its_error_is_an_annotation(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run_command(["run", "--target", "::error::x"], folder=tmp_path, environment=os.environ)

    said = capfd.readouterr()
    assert code == 2
    (annotation,) = executed_commands(said.out)
    assert annotation[0] == "error"
    assert executed_commands(said.err) == []


def _fuzzing(folder: Path) -> subprocess.Popen[bytes]:
    """Return a step whose command has begun to fuzz."""
    target = ["--target", "current[planted]", "--budget", "90s", "--out", str(folder / "out")]
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "run", *target], cwd=folder, env=environment
    )
    while not (folder / "out" / "journal.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.1)
    return process


def test_a_command_that_is_killed_is_graver_than_success(tmp_path: Path) -> None:
    process = _fuzzing(tmp_path)
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

    os.kill(int(child), signal.SIGKILL)

    assert process.wait(timeout=60) == 128 + signal.SIGKILL


def test_the_first_signal_reaches_the_command_and_the_second_does_not(tmp_path: Path) -> None:
    process = _fuzzing(tmp_path)

    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=60) == 130
    assert (tmp_path / "out" / "run.json").is_file()
