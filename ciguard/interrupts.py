"""SIGINT and SIGTERM as KeyboardInterrupt, but never in the middle of what must be done whole."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Reception:
    """What has become of the signals of this process."""

    def __init__(self) -> None:
        self.depth = 0
        """How many contexts of `held` are entered."""
        self.is_pending = False

    def receive(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.depth and not self.is_pending:
            self.is_pending = True
            return
        self.is_pending = False
        raise KeyboardInterrupt


_RECEPTION = _Reception()


@contextmanager
def raised() -> Iterator[None]:
    """Let both signals raise KeyboardInterrupt; within `held`, only once it is left."""
    previous = {number: signal.signal(number, _RECEPTION.receive) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        _RECEPTION.is_pending = False


@contextmanager
def held() -> Iterator[None]:
    """Let a first signal wait; a second one raises at once, for whoever asks twice is in a hurry.

    Contexts can be nested. Outside of `raised` they do nothing.

    Raises:
        KeyboardInterrupt: when the outermost one is left, if a signal came.
    """
    _RECEPTION.depth += 1
    try:
        yield
    finally:
        _RECEPTION.depth -= 1
    if _RECEPTION.is_pending and not _RECEPTION.depth:
        _RECEPTION.is_pending = False
        raise KeyboardInterrupt
