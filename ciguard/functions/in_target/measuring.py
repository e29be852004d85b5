"""Coverage of the process that runs the functions, as the session that started it measures it.

Runs in a target's interpreter: standard library only, Python 3.9 and later; coverage.py where the
session runs it too.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

SAVED_EVERY_S = 1.0
"""A process that crashes loses what it measured since it last saved."""


class Measuring:
    """Runs coverage.py, or does nothing."""

    def __init__(self, options: dict[str, Any] | None) -> None:
        """Start.

        Args:
            options: of `[run]` by name, and `data_file`; None: nothing is measured.
        """
        self._coverage: Any = None
        self._saved = time.monotonic()
        self.problem = ""
        """Why nothing is measured though it should be."""
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

    def save_now_and_then(self) -> None:
        """Save if it is time to."""
        if self._coverage is not None and time.monotonic() - self._saved > SAVED_EVERY_S:
            self.save()

    def save(self) -> None:
        """Write what was measured so far."""
        if self._coverage is not None:
            self._coverage.save()
            self._saved = time.monotonic()

    def stop(self) -> None:
        """Write the rest."""
        if self._coverage is not None:
            self._coverage.stop()
            self._coverage.save()
