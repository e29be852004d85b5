"""The retry budget: a limit on the time that requests to a tracker may take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.errors import TrackerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable


class RetryBudget:
    """A time limit for requests and waits, which starts with the first wait."""

    def __init__(
        self,
        limit_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Create a budget, which starts when `remaining_s` is first read.

        Args:
            limit_s: the time limit in seconds.
            clock: a function that returns the current time in seconds.
            sleep: a function that sleeps for a time in seconds.
        """
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
            because: the reason for the wait, as the start of the error's message.

        Raises:
            TrackerUnavailableError: at once, if the remaining time is shorter than the wait.
        """
        left_s = self.remaining_s
        if seconds > left_s:
            msg = (
                f"{because}. The next attempt is due in {seconds:.0f} s, but only {left_s:.0f} s "
                "are left for requests. The next run will try again."
            )
            raise TrackerUnavailableError(msg)
        self._sleep(seconds)
