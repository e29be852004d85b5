"""A run in the format of a GitHub Actions log, with groups and annotations."""

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
    """Writes plain lines, in which the runner executes only the commands of this reporter.

    The runner executes `::command::` at the start of a line, and `##[command]` anywhere in a line.
    Messages of a library under test contain fuzzed text. So `::stop-commands::` is in force, except
    around the commands of this reporter.
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
        """See `Reporter`. Commands are enabled again for the step's later output."""
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
        # Fuzzed text cannot contain the token, as it is random and new each time.
        self._token = secrets.token_hex(16)
        self._stream.write(f"::stop-commands::{self._token}\n")

    def _allow_commands(self) -> None:
        if self._token:
            self._stream.write(f"::{self._token}::\n")
            self._token = ""


def fenced(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines after `::stop-commands::` and before the token that ends its effect."""
    token = secrets.token_hex(16)
    yield f"::stop-commands::{token}"
    yield from lines
    yield f"::{token}::"
