"""`ciguard run`: one campaign."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

import click

from ciguard.cli.interrupts import Interrupts
from ciguard.cli.options import takes_settings
from ciguard.config import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config import Config, Effective
    from ciguard.reports import Failure
    from ciguard.trackers import Filing


_MOST_LOCAL_ISSUES = 10_000
"""Files in a folder disturb nobody: every bucket gets one, those of the first run too."""


@click.command(short_help="Run a campaign and compare it with the baseline.")
@takes_settings(*SETTINGS)
def run(settings: Effective) -> int:
    """Fuzz the targets for a fixed time and compare what is broken with the baseline.

    The first run without a baseline establishes it. Results are in the output folder: summary.md
    for people, run.json, findings.jsonl, buckets.jsonl and junit.xml for programs.
    """
    config = settings.config
    return campaign(config, files_issues=not config.is_read_only)


def campaign(config: Config, *, files_issues: bool) -> int:
    """Run a campaign with all its reports, and return its exit code."""
    from ciguard.campaign import run as run_campaign  # noqa: PLC0415 - `--help` needs none of these
    from ciguard.reports import CONSOLES, REPORTERS, Destination, Reporter, dispatch  # noqa: PLC0415

    destination = Destination(folder=config.out, stream=sys.stdout, policy=config.policy)
    # Files come first: the console says where they are, and whether one of them failed.
    documents = [name for name in REPORTERS.items() if name not in CONSOLES]
    reporters: dict[str, Reporter] = {name: REPORTERS.get(name)(destination) for name in documents}
    if files_issues:
        reporters["issues"] = filing(config)
    console = console_name(os.environ, sys.stdout)
    reporters[console] = REPORTERS.get(console)(destination)
    with Interrupts() as interrupts:
        ended = dispatch(run_campaign(config), reporters, shield=interrupts.held)
    for failure in ended.failures:
        _complain(failure)
    return ended.exit_code


def filing(config: Config) -> Filing:
    """Return what takes a finished run to the tracker."""
    from ciguard.baseline import open_store  # noqa: PLC0415 - not for `--help`
    from ciguard.trackers import Filing, FilingRules, LocalTracker  # noqa: PLC0415

    return Filing(
        LocalTracker(config.tracker),
        open_store(config.baseline),
        rules=FilingRules(cap=_MOST_LOCAL_ISSUES, policy=config.policy, file_first_run=True),
        out=config.out,
    )


def console_name(environment: Mapping[str, str], stream: TextIO) -> str:
    """Return the reporter that suits where the command runs."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return "github"
    if environment.get("CI") or not stream.isatty():
        return "plain"
    return "terminal"


def _complain(failure: Failure) -> None:
    click.echo(f"ciguard: error: the {failure.reporter} report failed: {failure.message}", err=True)
    if failure.traceback:
        click.echo(failure.traceback, err=True)
