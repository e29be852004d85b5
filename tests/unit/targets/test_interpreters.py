"""Installed interpreters that are not on `PATH`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.targets.interpreters import installed_python

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path) -> Path:
    python = folder / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    return python


@pytest.mark.parametrize("variable", ["RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"])
def test_the_newest_interpreter_of_a_runner_is_found_by_version(
    tmp_path: Path, variable: str
) -> None:
    for release in ("3.1.4", "3.10.9", "3.11.2"):
        install(tmp_path / "Python" / release / "x64")
    newest = install(tmp_path / "Python" / "3.10.13" / "x64")

    assert installed_python("3.10", {variable: str(tmp_path)}) == newest


def test_an_interpreter_of_pyenv_is_found_and_pypy_is_skipped(tmp_path: Path) -> None:
    install(tmp_path / "versions" / "pypy3.10-7.3")
    python = install(tmp_path / "versions" / "3.10.13")

    assert installed_python("3.10", {"PYENV_ROOT": str(tmp_path)}) == python
    assert installed_python("3.10.13", {"PYENV_ROOT": str(tmp_path)}) == python


def test_no_interpreter_is_found_if_the_version_is_not_installed(tmp_path: Path) -> None:
    install(tmp_path / "versions" / "3.11.2")

    assert installed_python("3.10", {"PYENV_ROOT": str(tmp_path)}) is None
    assert installed_python("3.11", {}) is None
