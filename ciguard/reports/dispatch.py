"""Delivers a campaign's events to its reporters."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, RunFinished, Warned
from ciguard.domain.text import visible
from ciguard.errors import CiguardError, ExitCode
from ciguard.interrupts import held

if TYPE_CHECKING:
    from ciguard.reports.contract import Reporter


@dataclass(frozen=True, slots=True)
class ReporterFailure:
    """A reporter that raised an exception and was dropped."""

    reporter: str
    message: str
    traceback: str
    """Traceback of the exception; empty for a `CiguardError`, whose cause the user can fix."""


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """The exit code of a run, and the reporters that failed."""

    exit_code: int
    failures: tuple[ReporterFailure, ...]


def dispatch(
    events: Iterator[Event],
    reporters: Mapping[str, Reporter],
) -> DispatchResult:
    """Send every event to every reporter, in the order of `reporters`, and close the reporters.

    A reporter that raises an exception is dropped, and the other reporters receive a warning. The
    run then ends with `ExitCode.INTERNAL`; reporters that receive `RunFinished` after the failure
    find this code in it. A signal interrupts the campaign after the current event is delivered.

    Args:
        events: the events that the campaign yields.
        reporters: the reporters, by name.

    Raises:
        CiguardError: if the campaign raises one; all reporters are closed first.
        KeyboardInterrupt: if the campaign is interrupted, and then does not yield `RunFinished`.
    """
    dispatcher = _Dispatcher(dict(reporters))
    try:
        event = next(events, None)
        while event is not None:
            try:
                with held():
                    dispatcher.deliver(event)
            except KeyboardInterrupt as interruption:
                event = _interrupt(events, interruption)
            else:
                event = next(events, None)
    finally:
        dispatcher.close()
    return DispatchResult(dispatcher.exit_code, tuple(dispatcher.failures))


def _interrupt(events: Iterator[Event], interruption: KeyboardInterrupt) -> Event | None:
    """Return the next event after the campaign was interrupted; None if it ended."""
    if not isinstance(events, Generator):
        raise interruption
    campaign: Generator[Event, None, None] = events
    try:
        return campaign.throw(interruption)
    except StopIteration:
        return None


class _Dispatcher:
    """Delivers events to the reporters that have not failed."""

    def __init__(self, reporters: dict[str, Reporter]) -> None:
        self._active = reporters
        self._exit_code: int | None = None
        self.failures: list[ReporterFailure] = []

    @property
    def exit_code(self) -> int:
        """Exit code of the command: `INTERNAL` if a reporter failed or no last event came."""
        if self.failures or self._exit_code is None:
            return ExitCode.INTERNAL
        return self._exit_code

    def deliver(self, event: Event) -> None:
        """Send one event to all active reporters."""
        if isinstance(event, RunFinished):
            self._exit_code = event.exit_code
        for name, reporter in list(self._active.items()):
            if isinstance(event, RunFinished) and self.failures:
                event = replace(event, exit_code=int(ExitCode.INTERNAL))
            self._attempt(name, partial(reporter.receive, event))

    def close(self) -> None:
        """Close all active reporters."""
        for name, reporter in list(self._active.items()):
            self._attempt(name, reporter.close)

    def _attempt(self, name: str, action: Callable[[], None]) -> None:
        """Call a method of a reporter; if it raises an exception, drop the reporter."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - the reporter of a plugin may raise anything, and must not end the run
            trace = "" if isinstance(error, CiguardError) else traceback.format_exc()
            text = str(error) if isinstance(error, CiguardError) else repr(error)
            self.failures.append(ReporterFailure(name, visible(text), trace))
            del self._active[name]
            self.deliver(Warned(message=f"the {name} report failed and was dropped: {text}"))
