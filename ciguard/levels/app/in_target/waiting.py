"""Time that passes while an application waits: at once, as answers are there at once.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

_MAX_S = 0.01
_CLOCKS = ("time", "monotonic", "perf_counter")


def shorten() -> None:
    """Have `time.sleep` return soon, and the clocks of `time` go on as if it had not."""
    sleep, changing, ahead = time.sleep, threading.Lock(), [0.0]

    def shortly(seconds: Any) -> None:
        sleep(min(seconds, _MAX_S))  # which refuses what is no time
        with changing:
            ahead[0] += max(seconds - _MAX_S, 0.0)

    def moved(clock: Callable[[], Any], each: int) -> Callable[[], Any]:
        return lambda: clock() + type(clock())(ahead[0] * each)

    time.sleep = shortly
    for name in _CLOCKS:
        setattr(time, name, moved(getattr(time, name), 1))
        setattr(time, f"{name}_ns", moved(getattr(time, f"{name}_ns"), 10**9))
