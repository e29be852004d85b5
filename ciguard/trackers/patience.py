"""Waiting for a tracker: what is left of the time that filing may take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.errors import TrackerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable


class Patience:
    """An amount of time, used up by waiting and by everything else that happens meanwhile."""

    def __init__(
        self,
        limit_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Hold `limit_s` seconds; they run from the first look at what remains."""
        self._limit_s = limit_s
        self._clock = clock
        self._sleep = sleep
        self._until: float | None = None

    @property
    def remaining_s(self) -> float:
        """Seconds left, at least 0."""
        if self._until is None:
            self._until = self._clock() + self._limit_s
        return max(0.0, self._until - self._clock())

    def wait(self, seconds: float, *, because: str) -> None:
        """Wait, if there is time for it.

        Args:
            seconds: how long.
            because: what went wrong, as the beginning of the error's message.

        Raises:
            TrackerUnavailableError: at once, if that is longer than what is left.
        """
        left_s = self.remaining_s
        if seconds > left_s:
            msg = (
                f"{because}. It would take another {seconds:.0f} s, filing has {left_s:.0f} s "
                "left: what was not filed waits for the next run."
            )
            raise TrackerUnavailableError(msg)
        self._sleep(seconds)
