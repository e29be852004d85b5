"""`ciguard accept`: accept one known bucket, or all buckets of a group."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import matching_buckets
from ciguard.cli.options import example, takes_settings
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.config import EffectiveSettings


@click.command(
    short_help="Accept one known bucket, with a reason.",
    epilog=example('ciguard accept 8a45dee0 --because "only in debug builds"'),
)
@click.argument("bucket")
@click.option("--because", metavar="TEXT", required=True, help="Reason for accepting the bucket.")
@takes_settings("out", "baseline")
def accept(settings: EffectiveSettings, bucket: str, because: str) -> None:
    """Record in the baseline why BUCKET is accepted, so that it does not fail runs any more.

    A different defect of the same API has another fingerprint and still counts. Instead of a
    bucket, the name of a cause (g1:...) accepts all known buckets with that cause.
    """
    from ciguard.baseline import accept as accept_record
    from ciguard.baseline import find_record, open_store

    config = settings.config
    reason = visible(because).strip()
    if not reason:
        msg = "--because: the reason is empty. Write why the bucket is accepted."
        raise ConfigurationError(msg)
    matches = matching_buckets(config, bucket)
    store = open_store(config.baseline)
    records = store.load()
    known = [match for match in matches if find_record(records, match.fingerprint) is not None]
    if not known:
        names = ", ".join(match.fingerprint for match in matches)
        msg = (
            f"bucket {names} is not in the baseline {config.baseline}, which contains "
            "only confirmed buckets of completed runs. Run `ciguard run` until the "
            "bucket is confirmed."
        )
        raise ConfigurationError(msg)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for match in known:
        records = accept_record(records, match.fingerprint, because=reason, time=now)
    store.save(records)
    for match in known:
        click.echo(f"{match.fingerprint} {visible(match.finding.api)}: accepted.")
