"""Send a campaign's events to its reporters."""

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
    """A reporter that was dropped."""

    reporter: str
    message: str
    traceback: str
    """Empty when the cause is the user's or the machine's, not a defect."""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """How a run ended."""

    exit_code: int
    failures: tuple[ReporterFailure, ...]


def dispatch(
    events: Iterator[Event],
    reporters: Mapping[str, Reporter],
) -> Dispatched:
    """Send every event to every reporter, in the order of `reporters`, and close them.

    A reporter that fails is dropped: the others are told in a warning, and the run ends with
    `ExitCode.INTERNAL`, which reporters after it in the order see in `RunFinished` already. A
    signal waits until an event is delivered. Then it interrupts the campaign, which ends in order.

    Args:
        events: what the campaign yields.
        reporters: by name.

    Raises:
        CiguardError: what the campaign raises; reporters are closed before.
        KeyboardInterrupt: if the campaign does not answer an interruption with `RunFinished`.
    """
    desk = _Desk(dict(reporters))
    try:
        event = next(events, None)
        while event is not None:
            try:
                with held():
                    desk.deliver(event)
            except KeyboardInterrupt as interruption:
                event = _interrupted(events, interruption)
            else:
                event = next(events, None)
    finally:
        desk.close()
    return Dispatched(desk.exit_code, tuple(desk.failures))


def _interrupted(events: Iterator[Event], interruption: KeyboardInterrupt) -> Event | None:
    if not isinstance(events, Generator):
        raise interruption
    campaign: Generator[Event, None, None] = events
    try:
        return campaign.throw(interruption)
    except StopIteration:
        return None


class _Desk:
    """The reporters that are still listening."""

    def __init__(self, reporters: dict[str, Reporter]) -> None:
        self._listening = reporters
        self._exit_code: int | None = None
        self.failures: list[ReporterFailure] = []

    @property
    def exit_code(self) -> int:
        """What the command ends with: a run without an end and a lost report are failures."""
        if self.failures or self._exit_code is None:
            return ExitCode.INTERNAL
        return self._exit_code

    def deliver(self, event: Event) -> None:
        """Send one event to all."""
        if isinstance(event, RunFinished):
            self._exit_code = event.exit_code
        for name, reporter in list(self._listening.items()):
            if isinstance(event, RunFinished) and self.failures:
                event = replace(event, exit_code=int(ExitCode.INTERNAL))
            self._attempt(name, partial(reporter.receive, event))

    def close(self) -> None:
        """Close all that are left."""
        for name, reporter in list(self._listening.items()):
            self._attempt(name, reporter.close)

    def _attempt(self, name: str, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - a reporter may be anybody's; the run goes on
            trace = "" if isinstance(error, CiguardError) else traceback.format_exc()
            text = str(error) if isinstance(error, CiguardError) else repr(error)
            self.failures.append(ReporterFailure(name, visible(text), trace))
            del self._listening[name]
            self.deliver(Warned(message=f"the {name} report failed and was dropped: {text}"))
