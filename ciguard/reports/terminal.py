"""A live table of a run, and one screen of results at its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ciguard.domain.events import Event, RunFinished, RunStarted, Warned
from ciguard.domain.findings import Severity, Verdict
from ciguard.domain.text import visible
from ciguard.reports.closing import closing_lines
from ciguard.reports.progress import STATUSES, Progress
from ciguard.reports.wording import clock_text, plural

if TYPE_CHECKING:
    from ciguard.domain.plan import Plan
    from ciguard.reports.contract import Destination

_REFRESHES_PER_S = 4
_HEADINGS = {status: status.removesuffix("ed") for status in STATUSES} | {
    "passed": "pass",
    "errored": "error",
    "hung": "hang",
    "exhausted": "limit",
}
"""Status of outcomes → column heading, short enough for a table of 80 characters."""
_STYLES = {"crashed": "red", "hung": "red", "errored": "yellow", "exhausted": "yellow"}
_SEVERITY_STYLES = {
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
    Severity.INFO: "dim",
}
_VERDICT_STYLES = {
    Verdict.NEW_FINDINGS: "bold red",
    Verdict.NOT_RUN: "bold yellow",
    Verdict.NOT_TESTED: "bold yellow",
    Verdict.INTERRUPTED: "bold yellow",
}


class TerminalReporter:
    """Shows a run on a terminal. Fuzzed text is wrapped in `Text`, as rich interprets strings."""

    def __init__(self, destination: Destination, console: Console | None = None) -> None:
        self._console = console or Console(file=destination.stream)
        self._progress = Progress(time.monotonic)
        self._live = Live(
            console=self._console,
            get_renderable=self._table,
            refresh_per_second=_REFRESHES_PER_S,
            transient=True,
        )
        self._folder = destination.folder
        self._plan: Plan | None = None

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        self._progress.receive(event)
        match event:
            case RunStarted():
                self._plan = event.plan
                self._live.start()
            case Warned():
                self._console.print(Text(f"warning: {visible(event.message)}", style="yellow"))
            case RunFinished():
                self._live.stop()
                self._conclude(event)
            case _:
                pass

    def close(self) -> None:
        """See `Reporter`. The terminal's cursor becomes visible again."""
        self._live.stop()

    def _conclude(self, event: RunFinished) -> None:
        """Print the last screen of a run."""
        style = _VERDICT_STYLES.get(event.verdict, "bold green")
        width = self._console.width
        lines = closing_lines(
            event,
            folder=self._folder,
            plan=self._plan,
            documentation=self._progress.documentation,
            width=width,
        )
        for line in lines:
            shown = Text(line.text, style=style if line.is_verdict else "", overflow="ellipsis")
            if line.severity is not None:
                shown.highlight_words([line.severity.label], _SEVERITY_STYLES[line.severity])
            self._console.print(shown, no_wrap=True, crop=True)

    def _table(self) -> RenderableType:
        """Return the live table: a row per target, and the status of the run."""
        progress = self._progress
        now_s = progress.now_s
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("target", ratio=1, no_wrap=True, overflow="ellipsis")
        for column in ("cases/s", "cases", *_HEADINGS.values()):
            table.add_column(column, justify="right", no_wrap=True, min_width=len(column))
        states = []
        # It iterates over copies, as this is rich's thread, and the campaign's thread adds items.
        for name, target in list(progress.targets.items()):
            counts = dict(target.tally)
            table.add_row(
                Text(visible(name, limit=60)),
                f"{target.rate(now_s):,.0f}",
                f"{sum(counts.values()):,}",
                *(_count(status, counts.get(status, 0)) for status in STATUSES),
            )
            if not counts:
                state = f"  {visible(name, limit=60)}: {visible(target.state)}"
                states.append(Text(state, style="dim", no_wrap=True, overflow="ellipsis"))
        if progress.step:
            states = [Text(f"  {visible(progress.step)}", no_wrap=True, overflow="ellipsis")]
        return Group(table, *states, self._status())

    def _status(self) -> Text:
        """Return the status of the run: time left, stage, and numbers of buckets."""
        progress = self._progress
        by_severity = dict(progress.bucket_counts)
        parts = [f"{clock_text(progress.left_s)} left", progress.stage]
        parts.append(plural(sum(by_severity.values()), "bucket"))
        parts += [
            f"{by_severity[severity]} {severity.label}"
            for severity in sorted(Severity, reverse=True)
            if by_severity.get(severity)
        ]
        if progress.flaky_count:
            parts.append(f"{progress.flaky_count} flaky")
        return Text(" · ".join(parts), style="bold")


def _count(status: str, count: int) -> Text:
    return Text(f"{count:,}" if count else "·", style=_STYLES.get(status, "") if count else "dim")
