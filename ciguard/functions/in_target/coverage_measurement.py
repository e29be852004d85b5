"""Coverage of the process that calls the functions, with the options of the pytest session.

Runs in a target's interpreter: standard library only, Python 3.9 and later. It needs coverage.py
only if the session measures coverage.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

SAVE_INTERVAL_S = 1.0
"""Interval between saves, in seconds; a crash loses the coverage since the last save."""


class CoverageMeasurement:
    """Measurement of coverage with coverage.py; does nothing without options."""

    def __init__(self, options: dict[str, Any] | None) -> None:
        """Start to measure coverage.

        Args:
            options: options of section `[run]` of coverage.py's configuration by name, and
                `data_file`; None to measure no coverage.
        """
        self._coverage: Any = None
        self._saved_at_s = time.monotonic()
        self.problem = ""
        """Reason why coverage cannot be measured; empty if it can."""
        if options is not None:
            self._start(dict(options))

    def _start(self, options: dict[str, Any]) -> None:
        try:
            coverage = importlib.import_module("coverage")
        except ImportError as error:
            self.problem = str(error)
            return
        self._coverage = coverage.Coverage(data_file=options.pop("data_file"), config_file=False)
        for name, value in options.items():
            self._coverage.set_option(f"run:{name}", value)
        self._coverage.start()

    def save_periodically(self) -> None:
        """Save the coverage if `SAVE_INTERVAL_S` has passed since the last save."""
        if self._coverage is not None and time.monotonic() - self._saved_at_s > SAVE_INTERVAL_S:
            self.save()

    def save(self) -> None:
        """Save the coverage that was measured so far."""
        if self._coverage is not None:
            self._coverage.save()
            self._saved_at_s = time.monotonic()

    def stop(self) -> None:
        """Stop the measurement, and save the coverage."""
        if self._coverage is not None:
            self._coverage.stop()
            self._coverage.save()
