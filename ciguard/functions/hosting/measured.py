"""Coverage of a session that coverage.py measures: handed on to processes, and taken back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_HANDED_ON = (
    *("branch", "source", "source_pkgs", "source_dirs", "omit", "include", "concurrency"),
    *("core", "relative_files", "plugins", "timid", "cover_pylib", "disable_warnings"),
)
"""What `[run]` says of which lines count, and how they are counted."""


def _current() -> Any:
    coverage: Any = sys.modules.get("coverage")
    return coverage.Coverage.current() if coverage is not None else None


def measured_options() -> dict[str, Any] | None:
    """Return how this process is measured, by names of `[run]`; None if it is not."""
    current = _current()
    if current is None:
        return None
    from coverage.exceptions import ConfigError  # noqa: PLC0415 - only where it is there

    found = {}
    for name in _HANDED_ON:
        try:
            value = current.get_option(f"run:{name}")
        except ConfigError:
            continue  # of another version of coverage.py
        if name == "concurrency":
            # `multiprocessing` needs a configuration file; such children are not measured.
            value = [kind for kind in value or () if kind != "multiprocessing"]
        if value:
            found[name] = value
    return found


def merge_measured(files: Iterable[Path]) -> None:
    """Add what other processes have measured to what this one measures."""
    current = _current()
    if current is None:
        return
    from coverage import CoverageData  # noqa: PLC0415 - only where it is there

    for file in files:
        other = CoverageData(basename=str(file))
        other.read()
        current.get_data().update(other)
