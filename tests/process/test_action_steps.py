"""Commands that a step of the action runs: what they see, what they say, how they are stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path

import pytest
from action_file import ROOT
from action_runner import executed_commands

from ciguard.actions import run_command

PROGRAM = """
import os, sys
from pathlib import Path
from ciguard.actions import run_command
sys.exit(run_command(sys.argv[1:], folder=Path.cwd(), environment=os.environ))
"""


@pytest.fixture(autouse=True)
def python(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a Python that has ciguard from this checkout even where it looks at no variables."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, with_pip=False)
    scheme = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    paths = f"{ROOT}\n{sysconfig.get_path('purelib')}\n"
    (Path(scheme) / "checkout.pth").write_text(paths, "utf-8")
    python = str(folder / "bin" / "python")
    monkeypatch.setattr(sys, "executable", python)
    return python


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


def test_the_first_signal_reaches_the_command_and_the_second_does_not(
    tmp_path: Path, python: str
) -> None:
    target = ["--target", "current[planted]", "--budget", "90s", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    process = subprocess.Popen(
        [python, "-c", PROGRAM, "run", *target], cwd=tmp_path, env=environment
    )
    while not (tmp_path / "out" / "journal.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.1)

    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=60) == 130
    assert (tmp_path / "out" / "run.json").is_file()
