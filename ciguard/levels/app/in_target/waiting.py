"""Simulated time: waiting takes a moment only, as stub responses are available at once.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

_MAX_S = 0.01
_CLOCKS = ("time", "monotonic", "perf_counter")


def shorten_waiting() -> None:
    """Make `time.sleep` return early, and advance the clocks of `time` by the saved time."""
    sleep, lock, ahead = time.sleep, threading.Lock(), [0.0]

    def short_sleep(seconds: Any) -> None:
        """Sleep briefly, and advance the clocks by the rest of the time."""
        sleep(min(seconds, _MAX_S))  # raises for an invalid time
        with lock:
            ahead[0] += max(seconds - _MAX_S, 0.0)

    def advanced(clock: Callable[[], Any], factor: int) -> Callable[[], Any]:
        """Return a clock that adds the saved time, in units of 1 / `factor` seconds."""
        return lambda: clock() + type(clock())(ahead[0] * factor)

    time.sleep = short_sleep
    for name in _CLOCKS:
        setattr(time, name, advanced(getattr(time, name), 1))
        setattr(time, f"{name}_ns", advanced(getattr(time, f"{name}_ns"), 10**9))
