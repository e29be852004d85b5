"""Coverage of a pytest session: settings for child processes, and merging of their data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SHARED_OPTIONS = (
    *("branch", "source", "source_pkgs", "source_dirs", "omit", "include", "concurrency"),
    *("core", "relative_files", "plugins", "timid", "cover_pylib", "disable_warnings"),
)
"""Options of section `[run]` that decide which lines are measured, and how."""


def _current_measurement() -> Any:
    """Return the `Coverage` object that measures this process; None if no coverage is measured."""
    coverage: Any = sys.modules.get("coverage")
    return coverage.Coverage.current() if coverage is not None else None


def coverage_options() -> dict[str, Any] | None:
    """Return the options of section `[run]` with which this process is measured; else None."""
    current = _current_measurement()
    if current is None:
        return None
    from coverage.exceptions import ConfigError  # noqa: PLC0415 - optional dependency

    options = {}
    for name in _SHARED_OPTIONS:
        try:
            value = current.get_option(f"run:{name}")
        except ConfigError:
            continue  # this version of coverage.py has no such option
        if name == "concurrency":
            # `multiprocessing` needs a configuration file, so those processes are not measured.
            value = [kind for kind in value or () if kind != "multiprocessing"]
        if value:
            options[name] = value
    return options


def merge_coverage(files: Iterable[Path]) -> None:
    """Add the coverage in files of other processes to the coverage of this process."""
    current = _current_measurement()
    if current is None:
        return
    from coverage import CoverageData  # noqa: PLC0415 - optional dependency

    for file in files:
        other = CoverageData(basename=str(file))
        other.read()
        current.get_data().update(other)
