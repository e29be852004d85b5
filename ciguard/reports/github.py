"""A run as the log of a GitHub Actions step: groups, annotations, and no injected commands."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, RunFinished, RunStarted
from ciguard.reports.places import places_of
from ciguard.reports.plain import PlainReporter
from ciguard.reports.remarks import remarks, workflow_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.reports.contract import Destination


class GithubReporter(PlainReporter):
    """Plain lines in which the runner executes no command but ours.

    The runner executes `::command::` lines, and `##[command]` anywhere in a line. Messages of a
    library under test contain fuzzed text, so `::stop-commands::` is in force except around our own
    commands.
    """

    def __init__(self, destination: Destination) -> None:
        super().__init__(destination)
        self._destination = destination
        self._token = ""

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, RunStarted):
            self._stop_commands()
        super().receive(event)
        if isinstance(event, RunFinished):
            places = places_of(event, self.plan, self._destination.sources)
            for command in workflow_commands(remarks(event, places, self._destination.policy)):
                self._command(command)
            self._stream.flush()

    def close(self) -> None:
        """See `Reporter`. Commands are enabled again for later writers of this log."""
        super().close()
        self._allow_commands()
        self._stream.flush()

    def begin_heading(self, title: str) -> None:
        """See `PlainReporter`."""
        self._command(f"::group::{title}")

    def finish_heading(self) -> None:
        """See `PlainReporter`."""
        self._command("::endgroup::")

    def _command(self, command: str) -> None:
        self._allow_commands()
        self._stream.write(command + "\n")
        self._stop_commands()

    def _stop_commands(self) -> None:
        # A new random token each time, which fuzzed text cannot contain.
        self._token = secrets.token_hex(16)
        self._stream.write(f"::stop-commands::{self._token}\n")

    def _allow_commands(self) -> None:
        if self._token:
            self._stream.write(f"::{self._token}::\n")
            self._token = ""


def fenced(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines between `::stop-commands::` and its end token."""
    token = secrets.token_hex(16)
    yield f"::stop-commands::{token}"
    yield from lines
    yield f"::{token}::"
