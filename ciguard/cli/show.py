"""`ciguard show`: show the buckets of the last run and of the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import all_buckets, matching_bucket, record_of
from ciguard.cli.options import example, takes_settings
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.config import EffectiveSettings


@click.command(
    short_help="List the buckets, or show one bucket.", epilog=example("ciguard show 8a45dee0")
)
@click.argument("bucket", required=False)
@click.option(
    "--grouping",
    is_flag=True,
    help="Show only the parts from which BUCKET's fingerprint is made, and its older fingerprints.",
)
@click.option(
    "--realistic",
    is_flag=True,
    help="List only buckets whose inputs an ordinary program could use (docs/severity.md).",
)
@takes_settings("out", "baseline")
def show(
    settings: EffectiveSettings, bucket: str | None, *, grouping: bool, realistic: bool
) -> None:
    """List the buckets of the last run and of the baseline, or show all details of BUCKET.

    BUCKET is a fingerprint or the beginning of one.
    """
    from ciguard.reports import bucket_lines, grouping_lines, table_lines
    from ciguard.triage import read_script, realism

    config = settings.config
    if bucket is None:
        if grouping:
            msg = "--grouping needs a bucket. `ciguard show` lists the buckets."
            raise ConfigurationError(msg)
        buckets = all_buckets(config)
        if not buckets:
            click.echo(
                f"No buckets in {config.out} and {config.baseline}. Run `ciguard run` first."
            )
            return
        plain = [item for item in buckets if realism(item.finding).is_plain]
        lines = table_lines(plain if realistic else buckets)
    else:
        match = matching_bucket(config, bucket)
        record = record_of(config, match)
        script = read_script(config.out, match)
        lines = grouping_lines(match) if grouping else bucket_lines(match, script, record)
    for line in lines:
        click.echo(line)
