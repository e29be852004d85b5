"""Finds an installed Python of a version, where uv does not look for one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def installed_python(version: str, outer: Mapping[str, str]) -> Path | None:
    """Return the newest installed interpreter of that version that is not on `PATH`.

    GitHub's runners and pyenv keep several versions in folders of their own; with one of them
    nothing must be downloaded.

    Args:
        version: e.g. `3.10` or `3.10.13`.
        outer: the environment that says where the folders are.
    """
    found = [
        (release, python)
        for release, python in _interpreters(outer)
        if f"{release}.".startswith(f"{version}.") and os.access(python, os.X_OK)
    ]
    return max(found)[1] if found else None


def _interpreters(outer: Mapping[str, str]) -> Iterator[tuple[Version, Path]]:
    tools = outer.get("RUNNER_TOOL_CACHE") or outer.get("AGENT_TOOLSDIRECTORY")
    pyenv = outer.get("PYENV_ROOT")
    named = (
        [(each.parent.name, each) for each in Path(tools, "Python").glob("*/*")] if tools else []
    )
    named += [(each.name, each) for each in Path(pyenv, "versions").glob("*")] if pyenv else []
    for name, folder in named:
        try:
            yield Version(name), folder / "bin" / "python3"
        except InvalidVersion:  # PyPy and the like
            continue
