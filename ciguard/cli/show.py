"""`ciguard show`: what the last run found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import all_buckets, bucket_of
from ciguard.cli.options import takes_settings

if TYPE_CHECKING:
    from ciguard.config import Effective


@click.command(short_help="Show what was found.")
@click.argument("bucket", required=False)
@takes_settings("out", "baseline")
def show(settings: Effective, bucket: str | None) -> None:
    """List the buckets of the last run and of the baseline, or tell everything about BUCKET.

    BUCKET is a fingerprint or the beginning of one.
    """
    from ciguard.reports import bucket_lines, table_lines  # noqa: PLC0415 - not for `--help`

    config = settings.config
    if bucket is None:
        buckets = all_buckets(config)
        if not buckets:
            click.echo(f"Nothing in {config.out} and {config.baseline}. Run `ciguard run` first.")
            return
        lines = table_lines(buckets)
    else:
        found = bucket_of(config, bucket)
        path = config.out / found.reproducer
        has_script = found.reproducer and path.is_file()
        script = path.read_text(encoding="utf-8", errors="replace") if has_script else ""
        lines = bucket_lines(found, script)
    for line in lines:
        click.echo(line)
