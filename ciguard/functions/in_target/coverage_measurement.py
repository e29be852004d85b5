"""Coverage of the process that runs the functions, by the options of the session that started it.

Runs in a target's interpreter: standard library only, Python 3.9 and later; coverage.py where the
session uses it too.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

SAVE_INTERVAL_S = 1.0
"""Interval between saves, in seconds. A crash loses what was measured since the last save."""


class CoverageMeasurement:
    """Measures coverage with coverage.py; does nothing without options."""

    def __init__(self, options: dict[str, Any] | None) -> None:
        """Start measuring.

        Args:
            options: options of coverage.py's section `[run]` by name, and `data_file`. None
                disables
                measuring.
        """
        self._coverage: Any = None
        self._saved_at_s = time.monotonic()
        self.problem = ""
        """Reason why coverage could not be measured; empty if there is none."""
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
        """Save if `SAVE_INTERVAL_S` has passed since the last save."""
        if self._coverage is not None and time.monotonic() - self._saved_at_s > SAVE_INTERVAL_S:
            self.save()

    def save(self) -> None:
        """Save the coverage measured so far."""
        if self._coverage is not None:
            self._coverage.save()
            self._saved_at_s = time.monotonic()

    def stop(self) -> None:
        """Stop measuring and save the coverage."""
        if self._coverage is not None:
            self._coverage.stop()
            self._coverage.save()
