"""`ciguard run`: run a campaign."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Protocol, TextIO

import click

from ciguard import interrupts
from ciguard.cli.options import example, takes_settings
from ciguard.cli.required import with_required_targets
from ciguard.config import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.baseline import BaselineStore
    from ciguard.campaign import IssuePlanner, Publishing
    from ciguard.config import EffectiveSettings
    from ciguard.domain.events import Event
    from ciguard.reports import ReporterFailure


@click.command(
    short_help="Run a campaign and compare it with the baseline.",
    epilog=example("ciguard run --target torch==2.12.0 --target torch==2.13.0 --budget 10m"),
)
@takes_settings(*SETTINGS)
def run(settings: EffectiveSettings) -> int:
    """Fuzz the targets for a fixed time, and compare the defects with the baseline.

    The first run establishes the baseline. Results are in the output folder: report.html and
    summary.md for people, run.json, findings.jsonl, buckets.jsonl and junit.xml for programs.
    """
    return campaign(settings, files_issues=not settings.config.is_read_only)


def campaign(settings: EffectiveSettings, *, files_issues: bool) -> int:
    """Run a campaign with all its reports, and return its exit code."""
    from ciguard.campaign import run as run_campaign

    settings = with_required_targets(settings)
    return report(settings, partial(run_campaign, settings.config), files_issues=files_issues)


class Judge(Protocol):
    """A function that yields events until the verdict: a campaign, or a merge of its parts."""

    def __call__(
        self,
        *,
        store: BaselineStore | None = None,
        plan_issues: IssuePlanner | None = None,
        publishing: Publishing | None = None,
    ) -> Iterator[Event]:
        """Yield the events; see `ciguard.campaign.run`."""


def report(settings: EffectiveSettings, judge: Judge, *, files_issues: bool) -> int:
    """Send a judge's events to all reporters and to the issue filer; return the exit code."""
    from ciguard.campaign import Publishing
    from ciguard.cli.issues import filing_of
    from ciguard.reports import (
        CONSOLES,
        REPORTERS,
        Destination,
        Reporter,
        dispatch,
        history_files,
    )
    from ciguard.trackers import page_of_run

    config = settings.config
    destination = Destination(folder=config.out, stream=sys.stdout, policy=config.policy)
    # Files come first: the console reports their paths, and whether one could not be written.
    makers = REPORTERS.items()
    reporters: dict[str, Reporter] = {
        name: make(destination) for name, make in makers.items() if name not in CONSOLES
    }
    issues = filing_of(settings) if files_issues else None
    publishing = Publishing(files=history_files, run_page=page_of_run(os.environ))
    if issues is None:
        events = judge(publishing=publishing)
    else:
        reporters["issues"] = issues.filing
        plan_issues = issues.filing.plan_issues
        events = judge(store=issues.store, plan_issues=plan_issues, publishing=publishing)
    console = console_name(os.environ, sys.stdout)
    reporters[console] = REPORTERS.get(console)(destination)
    with interrupts.raised():
        result = dispatch(events, reporters)
    for line in issues.filer.messages if issues and (config.issues or config.dry_run) else ():
        click.echo(f"issues: {line}")
    for failure in result.failures:
        _report_failure(failure)
    return result.exit_code


def console_name(environment: Mapping[str, str], stream: TextIO) -> str:
    """Return the name of the console reporter for the environment."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return "github"
    if environment.get("CI") or not stream.isatty():
        return "plain"
    return "terminal"


def _report_failure(failure: ReporterFailure) -> None:
    click.echo(f"ciguard: error: the {failure.reporter} report failed: {failure.message}", err=True)
    if failure.traceback:
        click.echo(failure.traceback, err=True)
