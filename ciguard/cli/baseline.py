"""`ciguard baseline`: look after what is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import takes_settings
from ciguard.cli.run import campaign
from ciguard.config import SETTINGS, location_text
from ciguard.domain.findings import Comparison, Severity
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.baseline import BaselineRecord, Inventory, Records
    from ciguard.config import Effective

_OF_ISSUES = ["tracker", "dry-run", *(key for key in SETTINGS if key.startswith("issue"))]
_OF_A_RUN = [key for key in SETTINGS if key not in {"base", "compare-only", "resume", *_OF_ISSUES}]
_MAX_SHOWN = 20


@click.group(short_help="Look after what is known.")
def baseline() -> None:
    """Look after what is known: establish it, show it, make it smaller, file what waits in it."""


@baseline.command()
@takes_settings(*_OF_A_RUN)
def init(settings: Effective) -> int:
    """Establish a baseline: run a campaign, record what is broken, fail for none, file none.

    `ciguard baseline promote` files the worst of it later.
    """
    from ciguard.baseline import open_store

    place = settings.config.baseline
    if open_store(place).exists():
        msg = (
            f"{location_text(place)}: there is a baseline already. `ciguard run` compares with it; "
            "move it away to establish a new one."
        )
        raise ConfigurationError(msg)
    return campaign(settings, files_issues=False)


@baseline.command()
@takes_settings("baseline")
def show(settings: Effective) -> None:
    """Show how much is known, and what is in quarantine since it does not show every time."""
    from ciguard.baseline import inventory, open_store

    place = settings.config.baseline
    store = open_store(place)
    records = store.load()
    for line in _lines(location_text(place), records):
        click.echo(line)
    for line in _files(inventory(store.folder)):
        click.echo(line)


@baseline.command()
@takes_settings("baseline")
@click.option(
    "--older-than",
    type=click.IntRange(min=0),
    default=90,
    show_default=True,
    metavar="DAYS",
    help="Days for which it must have been fixed, or not been met if it is flaky.",
)
def prune(settings: Effective, older_than: int) -> None:
    """Remove what has long been fixed, what was flaky long ago, and what another record covers."""
    from ciguard.baseline import TIME_FORMAT, open_store
    from ciguard.baseline import prune as pruned

    now = datetime.now(UTC).strftime(TIME_FORMAT)
    counts: list[int] = []

    def change(records: Records) -> Records:
        counts[:] = [len(records)]
        return pruned(records, now=now, older_than_days=older_than)

    store = open_store(settings.config.baseline)
    after = store.change(change) if store.exists() else {}
    before = counts[0] if counts else 0
    click.echo(f"{before - len(after):,} of {before:,} buckets removed, {len(after):,} left.")


@baseline.command()
@takes_settings("baseline", *_OF_ISSUES)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Issues to open.",
)
def promote(settings: Effective, most: int) -> None:
    """File the worst recorded buckets that have no issue, a few at a time."""
    from ciguard.baseline import open_store
    from ciguard.campaign import promotion
    from ciguard.cli.issues import filing_of

    store = open_store(settings.config.baseline)
    before = store.load()
    with TemporaryDirectory(prefix="ciguard-promotion-") as folder:
        config = replace(settings.config, out=Path(folder))
        issues = filing_of(replace(settings, config=config))
        issues.filing.receive(promotion(before, most=most, out=config.out))
    for line in issues.desk.says:
        click.echo(f"issues: {line}")
    after = store.load()
    for name, record in after.items():
        if record.issue and name in before and not before[name].issue:
            click.echo(f"{name} {visible(record.exhibit.api)}: {visible(record.issue)}")
    waiting = sum(r.state == "open" and not r.issue for r in after.values())
    click.echo(f"{waiting:,} open buckets have no issue.")


def _files(found: Inventory) -> Iterator[str]:
    if found.parts > 1:
        size, largest = found.size / 1e6, found.largest / 1e6
        yield f"Kept in {found.parts:,} parts: {size:,.1f} MB, the largest file {largest:,.1f} MB"
    if found.leftovers:
        yield "Left by a writer that was killed; not read, and removed by the next one:"
    for name in found.leftovers[:_MAX_SHOWN]:
        yield f"  {visible(name)}"
    if len(found.leftovers) > _MAX_SHOWN:
        yield f"  and {len(found.leftovers) - _MAX_SHOWN:,} more"


def _lines(place: str, records: Records) -> Iterator[str]:
    states = Counter(record.state.value for record in records.values())
    counts = ", ".join(f"{count:,} {state}" for state, count in states.most_common())
    yield f"{place}: {counts or 'nothing is known'}"
    for severity in reversed(Severity):
        still = [
            r for r in records.values() if r.exhibit.severity is severity and r.state == "open"
        ]
        if still:
            filed = sum(bool(record.issue) for record in still)
            causes = _causes(still)
            behind = f"{causes:,} causes behind " if causes < len(still) else ""
            yield f"  {severity.label:9} {behind}{len(still):,} open, {filed:,} with an issue"
    flaky = sorted(
        (record for record in records.values() if record.state == "flaky"),
        key=lambda record: (-record.flakes.tried, record.fingerprint),
    )
    if flaky:
        yield "In quarantine, as they do not show every time:"
    for record in flaky[:_MAX_SHOWN]:
        counted = record.flakes
        rate = f"shown {counted.shown} of {counted.tried} times"
        yield f"  {record.fingerprint}  {visible(record.exhibit.api)}  {rate}"
    if len(flaky) > _MAX_SHOWN:
        yield f"  and {len(flaky) - _MAX_SHOWN:,} more"


def _causes(records: Iterable[BaselineRecord]) -> int:
    """Return how many causes records have."""
    from ciguard.baseline import bucket_of
    from ciguard.triage import cause_of

    return len({cause_of(bucket_of(record, Comparison.KNOWN)).name for record in records})
