"""The last screen of a run: its verdict, buckets and files, and commands to run next."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.reports.caveats import caveats
from ciguard.reports.upgrade import upgrade_of
from ciguard.reports.wording import (
    REPRODUCED,
    apis_text,
    by_cause,
    by_severity_and_part,
    counts_text,
    fixed_text,
    functions_text,
    in_display_order,
    issue_text,
    message_without_api,
    plural,
    short_fingerprint,
    state,
    tally_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import Bucket, Severity
    from ciguard.domain.plan import Plan
    from ciguard.reports.upgrade import UpgradeChanges

TOP_BUCKETS = 12
TOP_PER_GROUP = 4
_MAX_NAME_WIDTH = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleLine:
    """One printable line for the console; a verdict is never cut to the console's width."""

    text: str
    is_verdict: bool = False
    severity: Severity | None = None
    """Severity whose name the line has, for its colour; None without one."""


def closing_lines(
    event: RunFinished,
    *,
    folder: Path,
    plan: Plan | None = None,
    documentation: Iterable[DocumentationFinding] = (),
    width: int = 120,
) -> list[ConsoleLine]:
    """Return the lines that end a run: about one screen for any number of buckets.

    Args:
        event: the last event of the run.
        folder: the output folder of the run.
        plan: the plan of the run; None if it has none.
        documentation: the findings about documentation.
        width: the width of the console, in characters.
    """
    lines = [
        ConsoleLine(text=""),
        ConsoleLine(text=f"{event.verdict.value}: {visible(event.summary)}", is_verdict=True),
        *_caveats(event, plan, width),
        *_targets(event),
        ConsoleLine(text=""),
        ConsoleLine(text=f"Buckets: {_counts(event, plan)}"),
        *_upgrade(upgrade_of(event, plan, documentation)),
        *_bucket_lines(event),
        ConsoleLine(text=""),
        *_next_steps(event, folder),
    ]
    return [
        ConsoleLine(
            text=line.text if len(line.text) <= width else line.text[: width - 1] + "…",
            is_verdict=line.is_verdict,
            severity=line.severity,
        )
        if not line.is_verdict
        else line
        for line in lines
    ]


def _caveats(event: RunFinished, plan: Plan | None, width: int) -> Iterator[ConsoleLine]:
    """Yield the wrapped caveats, without those about targets that the list of targets shows."""
    running = tuple(target for target in event.targets if not target.not_run)
    for caveat in caveats(replace(event, targets=running), plan):
        wrapped = textwrap.wrap(visible(caveat.text), width - 2)
        yield from (
            ConsoleLine(text=f"{'  ' if index else '! '}{text}")
            for index, text in enumerate(wrapped)
        )


def _targets(event: RunFinished) -> Iterator[ConsoleLine]:
    """Yield a line for each target: the numbers of its APIs and outcomes, or why it did not run.

    A further line has the number of the user's functions, if the run tests some.
    """
    names = [visible(target.name, limit=_MAX_NAME_WIDTH) for target in event.targets]
    width = max(map(len, names), default=0)
    for name, target in zip((name.ljust(width) for name in names), event.targets, strict=True):
        if target.not_run:
            yield ConsoleLine(text=f"  {name} NOT RUN: {visible(target.not_run)}")
            continue
        counts = target.tally.as_dict()
        called = apis_text(event, target)
        apis = f"{called} APIs, " if called else ""
        yield ConsoleLine(text=f"  {name} {apis}{target.tally.total:,} cases: {tally_text(counts)}")
    if functions := functions_text(event):
        yield ConsoleLine(text=f"  annotated functions: {functions} tested")


def _counts(event: RunFinished, plan: Plan | None) -> str:
    """Return the numbers of buckets by state, and of causes if they are fewer."""
    counts = counts_text(event.buckets, fixed=fixed_text(event, plan))
    reproduced = [bucket for bucket in event.buckets if bucket.comparison in REPRODUCED]
    causes = len(by_cause(reproduced))
    return counts if causes == len(reproduced) else f"{counts}; {plural(causes, 'distinct cause')}"


def _upgrade(upgrade: UpgradeChanges | None) -> Iterator[ConsoleLine]:
    """Yield a line with the numbers of changes by an upgraded library."""
    if upgrade is not None:
        yield ConsoleLine(text=f"Upgrade {visible(upgrade.versions_text)}: {upgrade.counts_text}")


def _bucket_lines(event: RunFinished) -> Iterator[ConsoleLine]:
    """Yield the most severe buckets of each tested part and severity, one line per cause."""
    lines_left = TOP_BUCKETS
    for group in by_severity_and_part(event.buckets):
        yield ConsoleLine(
            text=f"  {visible(group.part, limit=60)} {group.severity.label}: "
            f"{counts_text(group.buckets)}",
            severity=group.severity,
        )
        causes = by_cause(in_display_order(group.buckets))
        shown = causes[: min(TOP_PER_GROUP, lines_left)]
        lines_left -= len(shown)
        for bucket, *others in shown:
            also = f" and {len(others)} more with the same cause" if others else ""
            yield ConsoleLine(text=f"    {_bucket_line(bucket, also)}")
        if len(shown) < len(causes):
            yield ConsoleLine(text=f"    … {sum(map(len, causes[len(shown) :]))} more")


def _bucket_line(bucket: Bucket, also: str) -> str:
    """Return the line of a bucket; `also` states how many others share its cause."""
    finding = bucket.finding
    message = visible(message_without_api(finding), limit=160)
    # The path of a local issue would fill the line; `ciguard show` has it.
    has_number = bucket.issue.isdecimal()
    issue = f" {visible(issue_text(bucket.issue), limit=20)}" if has_number else ""
    return (
        f"{short_fingerprint(bucket.fingerprint)} {state(bucket) + issue:<11} "
        f"{visible(finding.api, limit=80)}{also}  {message}"
    )


def _next_steps(event: RunFinished, folder: Path) -> Iterator[ConsoleLine]:
    """Yield the paths of the files, and commands for the first reproduced bucket."""
    out = "" if folder.as_posix() == ".ciguard/run" else f" --out {shlex.quote(folder.as_posix())}"
    yield ConsoleLine(text=f"Report:        {folder.as_posix()}/report.html (as text: summary.md)")
    if any(bucket.reproducer for bucket in event.buckets):
        yield ConsoleLine(text=f"Reproducers:   {folder.as_posix()}/reproducers/")
    first = next((b for b in in_display_order(event.buckets) if b.comparison in REPRODUCED), None)
    if first is not None:
        name = short_fingerprint(first.fingerprint)
        yield ConsoleLine(text=f"One bucket:    ciguard show {name}{out}")
        yield ConsoleLine(text=f"Run it again:  ciguard reproduce {name}{out}")
