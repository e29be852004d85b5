"""What a stage of a campaign comes to, for benchmarks that run stages by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator

    from ciguard.domain.events import Event

T = TypeVar("T")


def result_of(events: Generator[Event, None, T]) -> T:
    """Return what a stage of a campaign comes to; what it says on the way is not shown."""
    while True:
        try:
            next(events)
        except StopIteration as stop:
            result: T = stop.value
            return result
