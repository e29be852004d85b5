"""What takes a service a moment: it is not done when it is asked for at once.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import time
from typing import Dict

_TAKES_S = 1.0


class UnderWay:
    """Names of what was begun, until somebody asks for it or it has had its time."""

    def __init__(self) -> None:
        self._since: Dict[str, float] = {}

    def begin(self, name: str) -> None:
        """Note that something begins."""
        now = time.monotonic()
        for old in [one for one, since in list(self._since.items()) if now - since > _TAKES_S]:
            self._since.pop(old, None)
        self._since[name] = now

    def is_met(self, name: str) -> bool:
        """Return whether it is under way; who asks once more, asks later."""
        begun = self._since.pop(name, None)
        return begun is not None and time.monotonic() - begun < _TAKES_S
