"""`ciguard minimize`: find the simplest case that shows a bucket's defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import matching_bucket
from ciguard.cli.options import example, takes_settings
from ciguard.cli.reproduce import refuse_incomplete, refuse_measured_finding
from ciguard.domain.text import visible
from ciguard.errors import ExitCode

if TYPE_CHECKING:
    from ciguard.config import Config, EffectiveSettings
    from ciguard.domain.findings import Bucket


@click.command(
    short_help="Find the simplest case that shows a bucket's defect.",
    epilog=example("ciguard minimize 8a45dee0 --budget 2m"),
)
@click.argument("bucket")
@takes_settings("out", "baseline", "budget", "confirmations", "case-limit", "memory")
def minimize(settings: EffectiveSettings, bucket: str) -> int:
    """Remove from BUCKET's case all that its defect does not need, and print a script of the case.

    If the bucket is in the baseline, the simpler case replaces the recorded case. Exits with 1 if
    the case does not show the defect any more.
    """
    from ciguard.campaign import minimise
    from ciguard.oracles.relations import encode
    from ciguard.triage import simplicity

    config = settings.config
    original = matching_bucket(config, bucket)
    refuse_measured_finding(original)
    refuse_incomplete(original)
    minimised = minimise(original, config, on_step=lambda step: click.echo(visible(step), err=True))
    if minimised is None:
        click.echo(
            f"{original.fingerprint}: the bucket's case no longer shows the defect.", err=True
        )
        return ExitCode.FINDINGS
    old, new = original.finding.case, minimised.bucket.finding.case
    click.echo(minimised.script)
    if simplicity(new) < simplicity(old):
        _store(minimised.bucket, config)
        click.echo(
            f"{original.fingerprint}: {len(encode(old)):,} → {len(encode(new)):,} bytes, "
            f"{len(old.values)} → {len(new.values)} values.",
            err=True,
        )
    else:
        click.echo(f"{original.fingerprint}: the bucket's case cannot be simplified.", err=True)
    return ExitCode.CLEAN


def _store(bucket: Bucket, config: Config) -> None:
    from ciguard.baseline import find_record, open_store, with_representative

    store = open_store(config.baseline)
    record = find_record(store.load(), bucket.fingerprint)
    if record is not None:
        store.save({record.fingerprint: with_representative(record, bucket)})
