"""A run as plain lines under headings, for logs, pipes and CI."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.config import duration_text
from ciguard.domain.events import (
    BatchFinished,
    BucketFlaky,
    BucketOpened,
    DocumentationChecked,
    Event,
    FirstPassFinished,
    Provisioning,
    RunFinished,
    RunStarted,
    StageFinished,
    TargetReady,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.text import visible
from ciguard.reports.closing import closing_lines
from ciguard.reports.documentation import DOCUMENTATION_FILE
from ciguard.reports.progress import Progress
from ciguard.reports.wording import (
    clock_text,
    message_without_api,
    plural,
    short_fingerprint,
    target_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.findings import Bucket
    from ciguard.domain.plan import Plan
    from ciguard.reports.contract import Destination

PROGRESS_EVERY_S = 10.0
_PREPARING = frozenset({"provision", "describe"})


class PlainReporter:
    """Writes one line per notable event, and a line of progress every ten seconds."""

    def __init__(
        self, destination: Destination, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = destination.stream
        self._folder = destination.folder
        self._clock = clock
        self._progress = Progress(clock)
        self._last_progress_s = clock()
        self._heading = ""
        self.plan: Plan | None = None
        """Plan of the run, once it has started; None for a run without a plan."""

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        self._progress.receive(event)
        if isinstance(event, RunFinished):
            self.end_heading()
            documentation = self._progress.documentation
            for line in closing_lines(
                event, folder=self._folder, plan=self.plan, documentation=documentation
            ):
                self.line(line.text)
            self._stream.flush()
            return
        if isinstance(event, RunStarted):
            self.plan = event.plan
        if isinstance(event, BatchFinished | BucketOpened | BucketFlaky):
            self._open_heading("Run")
        text = _text(event)
        if text:
            self.line(text)
        self._write_progress()
        self._stream.flush()

    def close(self) -> None:
        """See `Reporter`."""
        self.end_heading()
        self._stream.flush()

    def line(self, text: str) -> None:
        """Write one line, with escapes for unprintable characters."""
        self._stream.write(visible(text, limit=500) + "\n")

    def begin_heading(self, title: str) -> None:
        """Begin a group of lines."""
        self._stream.write(f"\n== {title} ==\n")

    def finish_heading(self) -> None:
        """Write the end of the group of lines that is open."""

    def end_heading(self) -> None:
        """End the group of lines that is open, if any."""
        if self._heading:
            self.finish_heading()
            self._heading = ""

    def _open_heading(self, title: str) -> None:
        """Begin a group of lines, unless a group with this title is open."""
        if title != self._heading:
            self.end_heading()
            self.begin_heading(title)
            self._heading = title

    def _write_progress(self) -> None:
        """Write a line of progress if the last one is old enough."""
        if self._clock() - self._last_progress_s < PROGRESS_EVERY_S:
            return
        self._last_progress_s = self._clock()
        progress = self._progress
        self.line(
            f"{clock_text(progress.left_s)} left, {progress.stage}: {progress.cases:,} cases "
            f"({progress.rate:,.0f}/s), {plural(progress.bucket_counts.total(), 'bucket')}"
        )


def _text(event: Event) -> str:
    """Return the line to write for an event; an empty text if nothing is to be written."""
    match event:
        case RunStarted():
            text = _plan(event)
        case Provisioning():
            # Some steps start with the name of their target.
            text = event.step if event.step.startswith(event.target) else _step(event)
        case TargetReady():
            text = f"{event.target.name}: {target_text(event.target)}"
        case TargetUnavailable():
            text = f"{event.target}: NOT RUN: {event.reason}"
        case BucketOpened():
            text = _finding(event.bucket, event.bucket.finding.severity.label)
        case BucketFlaky():
            text = _finding(event.bucket, "flaky")
        case StageFinished() | FirstPassFinished() | DocumentationChecked():
            text = _milestone(event)
        case Warned():
            text = f"warning: {event.message}"
        case _:
            text = ""
    return text


def _milestone(event: StageFinished | FirstPassFinished | DocumentationChecked) -> str:
    """Return the line for the end of a part of the run; empty for none."""
    match event:
        case StageFinished() if event.stage in _PREPARING:
            return f"{event.stage}: done in {event.spent_s:.1f} s"
        case FirstPassFinished():
            apis = plural(event.apis, "selected API")
            reasons = ", ".join(f"{tag} {count:,}" for tag, count in event.excluded.items())
            excluded = f"; {sum(event.excluded.values()):,} excluded ({reasons})" if reasons else ""
            return f"{event.library}: called {apis} after {event.elapsed_s:.1f} s{excluded}"
        case DocumentationChecked() if event.findings:
            defects = plural(len(event.findings), "defect")
            return (
                f"documentation of {event.library}: {defects}, which never fail a run; see "
                f"{DOCUMENTATION_FILE}"
            )
        case _:
            return ""


def _step(event: Provisioning) -> str:
    return f"{event.target}: {event.step}"


def _plan(event: RunStarted) -> str:
    return (
        f"ciguard: {'resumed: ' if event.resumed else ''}{', '.join(event.levels)} on "
        f"{', '.join(event.targets)}; seed {event.seed}, budget {duration_text(event.budget_s)}, "
        f"results in {event.out}"
    )


def _finding(bucket: Bucket, word: str) -> str:
    finding = bucket.finding
    return (
        f"{short_fingerprint(bucket.fingerprint)} {word} {finding.oracle}/{finding.kind} "
        f"{finding.api}: "
        f"{message_without_api(finding)}"
    )
