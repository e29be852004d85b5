"""Installed Python interpreters in folders that uv does not search."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def installed_python(version: str, outer: Mapping[str, str]) -> Path | None:
    """Return the newest installed interpreter of a version outside `PATH`; None if there is none.

    GitHub's runners and pyenv keep interpreters in their own folders. Using one of these
    interpreters saves a download.

    Args:
        version: the version of Python, e.g. `3.10` or `3.10.13`.
        outer: the environment variables that name the folders.
    """
    candidates = [
        (release, python)
        for release, python in _interpreters(outer)
        if f"{release}.".startswith(f"{version}.") and os.access(python, os.X_OK)
    ]
    return max(candidates)[1] if candidates else None


def _interpreters(outer: Mapping[str, str]) -> Iterator[tuple[Version, Path]]:
    """Yield the versions and interpreters of the runner's tool cache and of pyenv."""
    tools = outer.get("RUNNER_TOOL_CACHE") or outer.get("AGENT_TOOLSDIRECTORY")
    pyenv = outer.get("PYENV_ROOT")
    folders: list[tuple[str, Path]] = []
    if tools:
        folders += [(path.parent.name, path) for path in Path(tools, "Python").glob("*/*")]
    if pyenv:
        folders += [(path.name, path) for path in Path(pyenv, "versions").glob("*")]
    for name, folder in folders:
        try:
            yield Version(name), folder / "bin" / "python3"
        except InvalidVersion:  # for example PyPy
            continue
