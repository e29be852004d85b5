"""Jobs of a service that take a moment: the first request finds them still running.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import time
from typing import Dict

_DURATION_S = 1.0


class UnderWay:
    """Names of running jobs, until their status is requested or their time has passed."""

    def __init__(self) -> None:
        self._since: Dict[str, float] = {}

    def begin(self, name: str) -> None:
        """Record the start of a job."""
        now = time.monotonic()
        for expired in [
            job for job, since in list(self._since.items()) if now - since > _DURATION_S
        ]:
            self._since.pop(expired, None)
        self._since[name] = now

    def is_met(self, name: str) -> bool:
        """Return whether a job is still running; the next request finds it done."""
        begun = self._since.pop(name, None)
        return begun is not None and time.monotonic() - begun < _DURATION_S
