"""`ciguard minimize`: the simplest case that shows one bucket's defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import bucket_of
from ciguard.cli.options import takes_settings
from ciguard.cli.reproduce import refuse_incomplete, refuse_measured
from ciguard.domain.text import visible
from ciguard.errors import ExitCode

if TYPE_CHECKING:
    from ciguard.config import Config, Effective
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Bucket


@click.command(short_help="Look for the simplest case that shows one bucket's defect.")
@click.argument("bucket")
@takes_settings("out", "baseline", "budget", "confirmations", "case-limit", "memory")
def minimize(settings: Effective, bucket: str) -> int:
    """Leave out of BUCKET's case what its defect does not need, and print the script that is left.

    A simpler case takes its place in the baseline, if the bucket is there. Exits 1 if the defect
    does not show any more.
    """
    from ciguard.campaign import minimise
    from ciguard.oracles.relations import encode
    from ciguard.triage import simplicity

    config = settings.config
    before = bucket_of(config, bucket)
    refuse_measured(before)
    refuse_incomplete(before)
    found = minimise(before, config, on_step=lambda step: click.echo(visible(step), err=True))
    if found is None:
        click.echo(f"{before.fingerprint}: its case does not show the defect any more.", err=True)
        return ExitCode.FINDINGS
    old, new = before.finding.case, found.bucket.finding.case
    click.echo(found.script)
    if simplicity(new) < simplicity(old):
        _keep(found.bucket, config)
        click.echo(
            f"{before.fingerprint}: {len(encode(old)):,} → {len(encode(new)):,} bytes, "
            f"{_parts(old)} → {_parts(new)} values.",
            err=True,
        )
    else:
        click.echo(f"{before.fingerprint}: nothing can be left out of its case.", err=True)
    return ExitCode.CLEAN


def _parts(case: Case) -> int:
    return len(case.values)


def _keep(bucket: Bucket, config: Config) -> None:
    from ciguard.baseline import find_record, open_store, with_exhibit

    store = open_store(config.baseline)
    record = find_record(store.load(), bucket.fingerprint)
    if record is not None:
        store.save({record.fingerprint: with_exhibit(record, bucket)})
