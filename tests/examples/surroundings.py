"""The surroundings of all tests: the same on every machine, whatever the user's are."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
"""Lasts from run to run: links to the declared programs, environments of targets."""
PROGRAMS = CACHE / "programs"

_KEPT = ("LD_LIBRARY_PATH", "TMPDIR", "USER", "VIRTUAL_ENV")
_KEPT_PREFIXES = ("PIP_", "PYTEST_", "SSL_", "UV_", "COV_", "COVERAGE_", "UPDATE_")
_KEPT_SUFFIXES = ("_CA_BUNDLE", "_proxy", "_PROXY")
"""Where packages come from, and what the test run itself is told."""


def variables(outer: dict[str, str], home: Path) -> dict[str, str]:
    """Return the environment that tests see.

    Args:
        outer: environment of the user, of which only what reaches package indexes stays.
        home: an empty folder.
    """
    kept = {
        name: value
        for name, value in outer.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES) or name.endswith(_KEPT_SUFFIXES)
    }
    user_cache = Path(outer.get("XDG_CACHE_HOME") or Path(outer.get("HOME", "/")) / ".cache")
    return {
        "UV_CACHE_DIR": str(user_cache / "uv"),  # downloads of packages, nothing else
        **kept,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(CACHE),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "PATH": str(PROGRAMS),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PLAYWRIGHT_BROWSERS_PATH": str(CACHE / "browsers"),
    }


def programs_without(*names: str) -> Path:
    """Return a folder with links to the declared programs but some, which are hidden so."""
    folder = Path.home() / f"without-{'-'.join(names)}"
    if not folder.is_dir():
        folder.mkdir()
        for program in PROGRAMS.iterdir():
            if program.name not in names:
                (folder / program.name).symlink_to(program)
    return folder


def enter() -> Path:
    """Put this process into the surroundings of tests, and return its home, to be left again."""
    home = Path(tempfile.mkdtemp(prefix="ciguard-tests-home-"))
    made = variables(dict(os.environ), home)
    os.environ.clear()
    os.environ.update(made)
    os.umask(0o022)
    time.tzset()
    return home


def leave(home: Path) -> None:
    """Remove the home that `enter` returned."""
    shutil.rmtree(home, ignore_errors=True)
