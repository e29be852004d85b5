"""SIGINT and SIGTERM as KeyboardInterrupt, which critical sections can delay."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _SignalState:
    """State of the signals of this process."""

    def __init__(self) -> None:
        self.depth = 0
        """Number of nested contexts of `held`."""
        self.is_pending = False
        """True if a signal is delayed."""

    def receive(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.depth and not self.is_pending:
            self.is_pending = True
            return
        self.is_pending = False
        raise KeyboardInterrupt


_STATE = _SignalState()


@contextmanager
def raised() -> Iterator[None]:
    """Raise KeyboardInterrupt for both signals; within `held`, only when it is left."""
    previous = {number: signal.signal(number, _STATE.receive) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        _STATE.is_pending = False


@contextmanager
def held() -> Iterator[None]:
    """Delay a first signal until the context is left; a second signal raises at once.

    Contexts can be nested. They have no effect outside of `raised`.

    Raises:
        KeyboardInterrupt: when the outermost context is left, if a signal was received.
    """
    _STATE.depth += 1
    try:
        yield
    finally:
        _STATE.depth -= 1
    if _STATE.is_pending and not _STATE.depth:
        _STATE.is_pending = False
        raise KeyboardInterrupt
