"""Whatever the user's surroundings are, tests see their own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from surroundings import PROGRAMS, ROOT

if TYPE_CHECKING:
    from pathlib import Path


def test_hostile_surroundings_change_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    (home / ".gitconfig").write_text("[commit]\n\tgpgsign = true\n", "utf-8")
    (tmp_path / "ciguard.toml").write_text("no such = 'setting'\n", "utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    hostile = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PATH": "/usr/bin:/bin",
        "LANG": "C",
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_TOKEN": "secret",
        "CIGUARD_TARGETS": "nonsense",
        "CIGUARD_CACHE": str(home / "cache"),
        "TESSDATA_PREFIX": "/nowhere",
        "GIT_AUTHOR_NAME": "somebody",
        "NO_COLOR": "1",
        "TZ": "Asia/Kathmandu",
    }
    tests = ROOT / "tests" / "unit" / "test_surroundings.py"

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{tests}"],
        cwd=folder,
        env=hostile,
        umask=0o077,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert PROGRAMS.is_dir()
    assert sorted(os.listdir(home)) == [".config", ".gitconfig"]  # noqa: PTH208 - names only
    assert list(folder.iterdir()) == []
