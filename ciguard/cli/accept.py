"""`ciguard accept`: let one known bucket be, or all of a group."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import group_of
from ciguard.cli.options import takes_settings
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.config import Effective


@click.command(short_help="Accept one known bucket, with a reason.")
@click.argument("bucket")
@click.option("--because", metavar="TEXT", required=True, help="Why it may stay as it is.")
@takes_settings("out", "baseline")
def accept(settings: Effective, bucket: str, because: str) -> None:
    """Note in the baseline why BUCKET may stay: it is shown as accepted and fails no run.

    A different defect of the same API has another fingerprint, and counts. In the place of a bucket
    the name of a cause (g1:...) accepts all known buckets that have it.
    """
    from ciguard.baseline import accept as accepted
    from ciguard.baseline import find_record, open_store

    config = settings.config
    reason = visible(because).strip()
    if not reason:
        msg = "--because: the reason is empty. Write why the bucket may stay as it is."
        raise ConfigurationError(msg)
    buckets = group_of(config, bucket)
    store = open_store(config.baseline)
    records = store.load()
    known = [found for found in buckets if find_record(records, found.fingerprint) is not None]
    if not known:
        names = ", ".join(found.fingerprint for found in buckets)
        msg = (
            f"bucket {names}: not in the baseline {config.baseline}, which holds what "
            "earlier runs have settled. Run `ciguard run` until it is confirmed."
        )
        raise ConfigurationError(msg)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for found in known:
        records = accepted(records, found.fingerprint, because=reason, time=now)
    store.save(records)
    for found in known:
        click.echo(f"{found.fingerprint} {visible(found.finding.api)}: accepted.")
