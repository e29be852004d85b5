"""The retry budget: a limit on the time that requests to a tracker may take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.errors import TrackerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable


class RetryBudget:
    """A time limit, which starts with the first wait and includes the time of requests."""

    def __init__(
        self,
        limit_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Create a budget of `limit_s` seconds, which starts when `remaining_s` is first read."""
        self._limit_s = limit_s
        self._clock = clock
        self._sleep = sleep
        self._until: float | None = None

    @property
    def remaining_s(self) -> float:
        """Remaining time in seconds, at least 0."""
        if self._until is None:
            self._until = self._clock() + self._limit_s
        return max(0.0, self._until - self._clock())

    def wait(self, seconds: float, *, because: str) -> None:
        """Wait, unless the wait is longer than the remaining time.

        Args:
            seconds: the length of the wait, in seconds.
            because: the reason for the wait, which starts the error's message.

        Raises:
            TrackerUnavailableError: immediately, if the remaining time is shorter.
        """
        left_s = self.remaining_s
        if seconds > left_s:
            msg = (
                f"{because}. The next attempt is due in {seconds:.0f} s, but only {left_s:.0f} s "
                "are left for requests. The next run tries again."
            )
            raise TrackerUnavailableError(msg)
        self._sleep(seconds)
