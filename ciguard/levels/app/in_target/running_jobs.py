"""Jobs of a service that are still running at the first status request within a second.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import time
from typing import Dict

_DURATION_S = 1.0


class RunningJobs:
    """Names of the running jobs: until their first status request, for a second at most."""

    def __init__(self) -> None:
        self._since: Dict[str, float] = {}

    def start(self, name: str) -> None:
        """Record the start of a job."""
        now = time.monotonic()
        for expired in [
            job for job, since in list(self._since.items()) if now - since > _DURATION_S
        ]:
            self._since.pop(expired, None)
        self._since[name] = now

    def is_running(self, name: str) -> bool:
        """Return whether a job is still running, and finish it: the next result is False."""
        since = self._since.pop(name, None)
        return since is not None and time.monotonic() - since < _DURATION_S
