"""SIGINT and SIGTERM as KeyboardInterrupt, but never in the middle of a report."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While entered, both signals raise KeyboardInterrupt; within `held`, only once it is left.

    A second signal within `held` raises at once: whoever asks twice does not want to wait.
    """

    def __init__(self) -> None:
        self._is_held = False
        self._is_pending = False

    def __enter__(self) -> Self:
        self._previous = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let a signal wait.

        Raises:
            KeyboardInterrupt: on leaving, if a signal came.
        """
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt

    def _receive(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._is_held and not self._is_pending:
            self._is_pending = True
            return
        raise KeyboardInterrupt
