"""`ciguard bisect`: find the first released version that shows a bucket's defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import matching_buckets
from ciguard.cli.options import example, takes_settings
from ciguard.cli.reproduce import refuse_incomplete, refuse_measured_finding
from ciguard.domain.text import visible

if TYPE_CHECKING:
    from ciguard.campaign import Bisection
    from ciguard.config import EffectiveSettings


@click.command(
    short_help="Find the first released version that shows a bucket's defect.",
    epilog=example("ciguard bisect 8a45dee0 --good 2.4.0"),
)
@click.argument("bucket")
@click.option("--good", metavar="VERSION", default="", help="Version without the defect.")
@click.option(
    "--bad",
    metavar="VERSION",
    default="",
    help="Version with the defect. [default: the version in which the defect was found]",
)
@takes_settings("out", "baseline", "confirmations", "case-limit", "memory")
def bisect(settings: EffectiveSettings, bucket: str, good: str, bad: str) -> None:
    """Run BUCKET's case on released versions of its library, each installed by uv when needed.

    Without --good, the search starts at the oldest version that can be installed here. If the good
    version is newer than the bad one, the search finds the release that fixed the defect. Results
    are stored, so that the same command continues after an interruption. Give the name of a cause
    (g1:...) instead of a bucket to bisect all buckets with that cause.
    """
    from ciguard.campaign import bisect as bisect_case

    matches = matching_buckets(settings.config, bucket)
    for match in matches:
        refuse_measured_finding(match)
        refuse_incomplete(match)
    for match in matches:
        result = bisect_case(
            match,
            settings.config,
            good=good,
            bad=bad,
            on_step=lambda step: click.echo(visible(step), err=True),
        )
        if len(matches) > 1:
            click.echo(f"{match.fingerprint} {visible(match.finding.api)}:")
        _show(result)


def _show(result: Bisection) -> None:
    from packaging.version import Version

    for trial in sorted(result.trials, key=lambda trial: Version(trial.version)):
        click.echo(f"{trial.version:<12} {trial.status:<8} {visible(trial.detail)}")
    if not result.last_good:
        click.echo(f"bad: all versions that can be tested; the oldest is {result.first_bad}")
        return
    if result.is_fix:
        click.echo(f"last bad: {result.first_bad}")
        click.echo(f"first good: {result.last_good}")
    else:
        click.echo(f"last good: {result.last_good}")
        click.echo(f"first bad: {result.first_bad}")
    if result.between:
        click.echo(f"may also be a version that could not be tested: {', '.join(result.between)}")
