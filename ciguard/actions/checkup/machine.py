"""Check the machine: system, Python, git, the cache of environments, and free disk space."""

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
"""Free space that one environment of a deep-learning library and its download need, in GiB."""
ENOUGH_FREE_GIB = 8
"""Free space that the environments of a campaign with default settings need, in GiB."""
_GIB = 1024**3
_GIT_TIMEOUT_S = 30
_TESTED_PYTHONS = ((3, 11), (3, 13))
"""Oldest and newest Python for which the default targets have builds."""


def examine_machine() -> Iterator[Diagnosis]:
    """Yield the diagnoses of this machine."""
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
        f"{version}: some targets have no build for this version",
        f"Use {'.'.join(map(str, oldest))} to {'.'.join(map(str, newest))}, or name another "
        "Python in the targets.",
    )


def _git() -> Diagnosis:
    program = shutil.which("git")
    if program is None:
        return problem("git", "not found", "Install git: it stores baselines on a branch.")
    result = run_program([program, "--version"], limit_s=_GIT_TIMEOUT_S)
    if result.code:
        reason = visible(result.complaint, limit=200)
        return problem("git", f"`git --version` fails: {reason}", "Reinstall git.")
    return healthy("git", result.text.strip().removeprefix("git version "))


def _cache(folder: Path) -> Iterator[Diagnosis]:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    alternative = "set CIGUARD_CACHE to another folder."
    if not os.access(existing, os.W_OK | os.X_OK):
        yield problem(
            "cache", f"{existing} cannot be written", f"Make the folder writable, or {alternative}"
        )
    else:
        environments = folder / "environments"
        count = sum(1 for _ in environments.iterdir()) if environments.is_dir() else 0
        yield healthy("cache", f"{folder}: environments of {count} targets")
    try:
        free = shutil.disk_usage(existing).free / _GIB
    except OSError as error:
        yield unknown("disk", f"{existing}: {error.strerror}")
        return
    remedy = f"Free disk space (`ciguard targets prune`), or {alternative}"
    if free < MIN_FREE_GIB:
        yield problem("disk", f"{free:.1f} GiB free: too little for one target", remedy)
    elif free < ENOUGH_FREE_GIB:
        yield warning("disk", f"{free:.1f} GiB free: enough for only a few targets", remedy)
    else:
        yield healthy("disk", f"{free:.0f} GiB free")
