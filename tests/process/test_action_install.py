"""The script that installs ciguard on a runner, in a folder that somebody else has filled."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from action_file import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def test_the_working_folder_has_no_say_in_what_is_installed(tmp_path: Path) -> None:
    workspace, installed = tmp_path / "workspace", tmp_path / "installed"
    workspace.mkdir()
    for module in ("ensurepip", "venv", "pip"):
        (workspace / f"{module}.py").write_text("raise SystemExit('taken over')\n", "utf-8")
    (workspace / "uv.toml").write_text('index-url = "http://127.0.0.1:9/"\nno-index = true\n')

    done = subprocess.run(
        ["/usr/bin/env", "bash", ROOT / "action" / "install.sh", installed],
        cwd=workspace,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert "taken over" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    assert (installed / ".complete").is_file()


@pytest.mark.parametrize("system", ["Windows", "macOS"])
def test_a_runner_without_linux_is_refused_in_one_line(tmp_path: Path, system: str) -> None:
    done = subprocess.run(
        ["/usr/bin/env", "bash", ROOT / "action" / "install.sh", tmp_path / "installed"],
        env={"PATH": "/usr/bin:/bin", "RUNNER_OS": system},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 2
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error title=ciguard::")
    assert f"this runner has {system}. Set runs-on to a Linux runner" in line
    assert not (tmp_path / "installed").exists()
