"""The reporter: collects the page's data from events, and writes the page when the run ends."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.domain.events import (
    BatchFinished,
    DocumentationChecked,
    Event,
    InputsMishandled,
    ProgramRan,
    RunFinished,
    RunStarted,
    TargetUnavailable,
    Warned,
)
from ciguard.reports.files import write_atomically
from ciguard.reports.html.observed import RunObservations

if TYPE_CHECKING:
    from ciguard.reports.contract import Destination

REPORT_FILE = "report.html"


class HtmlReporter:
    """Writes `report.html`."""

    def __init__(self, destination: Destination) -> None:
        self._folder = destination.folder
        self._observed = RunObservations(started_at=datetime.now(UTC))

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        observed = self._observed
        match event:
            case RunStarted():
                observed.started, observed.started_at = event, datetime.now(UTC)
            case BatchFinished():
                observed.cases.add(event.target, sum(event.counts.values()), event.elapsed_s)
            case ProgramRan():
                observed.forest.add(event)
            case Warned():
                observed.warn(event.message)
            case TargetUnavailable():
                observed.unavailable[event.target] = event.reason
            case DocumentationChecked():
                observed.documentation += event.findings
            case InputsMishandled():
                observed.add_mishandled(event)
            case RunFinished():
                self._write(event)
            case _:
                pass

    def close(self) -> None:
        """See `Reporter`."""

    def _write(self, event: RunFinished) -> None:
        # The template engine is imported only by runs that write a page.
        from ciguard.reports.html.page import page  # noqa: PLC0415 - see above

        text = page(event, self._observed, self._folder, now=datetime.now(UTC))
        write_atomically(self._folder / REPORT_FILE, text)
