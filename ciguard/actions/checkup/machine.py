"""The machine: system, Python, git, the folder with environments of targets, free disk."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import TYPE_CHECKING

from ciguard.actions.checkup.diagnosis import healthy, problem, unknown, warning
from ciguard.domain.text import visible
from ciguard.programs import run_program
from ciguard.targets import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.actions.checkup.diagnosis import Diagnosis

MIN_FREE_GIB = 2
"""Less does not hold one environment of a deep-learning library and its download."""
ENOUGH_FREE_GIB = 8
"""Holds the environments of a default campaign."""
_GIB = 1024**3
_GIT_TIMEOUT_S = 30
_TESTED_PYTHONS = ((3, 11), (3, 13))
"""The oldest and the newest Python that the default targets have builds for."""


def examine_machine() -> Iterator[Diagnosis]:
    """Yield what this machine is like."""
    yield healthy("system", f"{platform.system()} {platform.release()}, {platform.machine()}")
    yield _python()
    yield _git()
    yield from _cache(cache_folder())


def _python() -> Diagnosis:
    version = platform.python_version()
    oldest, newest = _TESTED_PYTHONS
    if oldest <= sys.version_info[:2] <= newest:
        return healthy("python", version)
    return warning(
        "python",
        f"{version}: not every target has a build for it",
        f"Use {'.'.join(map(str, oldest))} to {'.'.join(map(str, newest))}, or name another "
        "Python in the targets.",
    )


def _git() -> Diagnosis:
    program = shutil.which("git")
    if program is None:
        return problem("git", "there is none", "Install git: a baseline is kept on a branch.")
    done = run_program([program, "--version"], limit_s=_GIT_TIMEOUT_S)
    if done.code:
        return problem("git", f"it fails: {visible(done.complaint, limit=200)}", "Reinstall it.")
    return healthy("git", done.text.strip().removeprefix("git version "))


def _cache(folder: Path) -> Iterator[Diagnosis]:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    another = "set CIGUARD_CACHE to another folder."
    if not os.access(existing, os.W_OK | os.X_OK):
        yield problem("cache", f"{existing} cannot be written", f"Make it writable, or {another}")
    else:
        slots = folder / "environments"
        count = sum(1 for _ in slots.iterdir()) if slots.is_dir() else 0
        yield healthy("cache", f"{folder}: environments of {count} targets")
    try:
        free = shutil.disk_usage(existing).free / _GIB
    except OSError as error:
        yield unknown("disk", f"{existing}: {error.strerror}")
        return
    remedy = f"Free disk space (`ciguard targets`), or {another}"
    if free < MIN_FREE_GIB:
        yield problem("disk", f"{free:.1f} GiB free: no target fits", remedy)
    elif free < ENOUGH_FREE_GIB:
        yield warning("disk", f"{free:.1f} GiB free: a few targets fit", remedy)
    else:
        yield healthy("disk", f"{free:.0f} GiB free")
