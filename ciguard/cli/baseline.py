"""`ciguard baseline`: manage the baseline."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import example, takes_settings
from ciguard.cli.run import campaign
from ciguard.config import SETTINGS, location_text
from ciguard.domain.findings import Comparison, Severity
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.baseline import BaselineRecord, Inventory, Records
    from ciguard.config import EffectiveSettings

_ISSUE_SETTINGS = ["tracker", "dry-run", *(key for key in SETTINGS if key.startswith("issue"))]
_INIT_SETTINGS = [
    key for key in SETTINGS if key not in {"base", "compare-only", "resume", *_ISSUE_SETTINGS}
]
_MAX_SHOWN = 20


@click.group(
    short_help="Manage the baseline of known buckets.", epilog=example("ciguard baseline show")
)
def baseline() -> None:
    """Manage the baseline of known buckets: establish, show or prune it, and file its issues."""


@baseline.command(
    short_help="Run a campaign that establishes a baseline.",
    epilog=example("ciguard baseline init --target torch==2.13.0 --budget 30m"),
)
@takes_settings(*_INIT_SETTINGS)
def init(settings: EffectiveSettings) -> int:
    """Establish a baseline: run a campaign, and record its buckets as known.

    The command does not fail for these buckets and files no issues. `ciguard baseline promote`
    files issues for the most severe buckets later.
    """
    from ciguard.baseline import open_store

    place = settings.config.baseline
    if open_store(place).exists():
        msg = (
            f"{location_text(place)} already contains a baseline. Run `ciguard run` to "
            "compare with this baseline, or move it away to establish a new one."
        )
        raise ConfigurationError(msg)
    return campaign(settings, files_issues=False)


@baseline.command(
    short_help="Show the number of buckets, and list the flaky buckets.",
    epilog=example("ciguard baseline show --baseline git+origin#ciguard-baseline"),
)
@takes_settings("baseline")
def show(settings: EffectiveSettings) -> None:
    """Show the number of buckets by state and severity, and list the flaky buckets."""
    from ciguard.baseline import inventory, open_store

    place = settings.config.baseline
    store = open_store(place)
    records = store.load()
    for line in _bucket_lines(location_text(place), records):
        click.echo(line)
    for line in _file_lines(inventory(store.folder)):
        click.echo(line)


@baseline.command(
    short_help="Remove fixed and flaky buckets that have not been seen for a long time.",
    epilog=example("ciguard baseline prune --older-than 30"),
)
@takes_settings("baseline")
@click.option(
    "--older-than",
    type=click.IntRange(min=0),
    default=90,
    show_default=True,
    metavar="DAYS",
    help="Minimum number of days since a bucket was fixed, or since a flaky bucket was last seen.",
)
def prune(settings: EffectiveSettings, older_than: int) -> None:
    """Remove buckets that were fixed or flaky long ago, or that another bucket covers."""
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
    click.echo(f"{before - len(after):,} of {before:,} buckets removed, {len(after):,} kept.")


@baseline.command(
    short_help="File issues for the most severe buckets.",
    epilog=example("ciguard baseline promote --most 5 --issues github:owner/name"),
)
@takes_settings("baseline", *_ISSUE_SETTINGS)
@click.option(
    "--most",
    "max_new",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Maximum number of issues to open.",
)
def promote(settings: EffectiveSettings, max_new: int) -> None:
    """File issues for the most severe buckets that have none, a few at a time."""
    from ciguard.baseline import open_store
    from ciguard.campaign import promotion
    from ciguard.cli.issues import filing_of

    store = open_store(settings.config.baseline)
    before = store.load()
    with TemporaryDirectory(prefix=scratch_prefix("promotion")) as folder:
        config = replace(settings.config, out=Path(folder))
        issues = filing_of(replace(settings, config=config))
        issues.filing.receive(promotion(before, max_new=max_new, out=config.out))
    for line in issues.filer.messages:
        click.echo(f"issues: {line}")
    after = store.load()
    for name, record in after.items():
        if record.issue and name in before and not before[name].issue:
            click.echo(f"{name} {visible(record.representative.api)}: {visible(record.issue)}")
    waiting = sum(r.state == "open" and not r.issue for r in after.values())
    click.echo(f"Open buckets without an issue: {waiting:,}.")


def _file_lines(inventory: Inventory) -> Iterator[str]:
    if inventory.parts > 1:
        size, largest = inventory.size / 1e6, inventory.largest / 1e6
        yield (
            f"Stored in {inventory.parts:,} parts: {size:,.1f} MB in total, {largest:,.1f} MB "
            "in the largest file"
        )
    if inventory.leftovers:
        yield (
            "Files that a killed process left; the next run that writes the baseline removes them:"
        )
    for name in inventory.leftovers[:_MAX_SHOWN]:
        yield f"  {visible(name)}"
    if len(inventory.leftovers) > _MAX_SHOWN:
        yield f"  and {len(inventory.leftovers) - _MAX_SHOWN:,} more"


def _bucket_lines(place: str, records: Records) -> Iterator[str]:
    states = Counter(record.state.value for record in records.values())
    counts = ", ".join(f"{count:,} {state}" for state, count in states.most_common())
    yield f"{place}: {counts or 'no buckets'}"
    for severity in reversed(Severity):
        open_records = [
            r
            for r in records.values()
            if r.representative.severity is severity and r.state == "open"
        ]
        if open_records:
            filed = sum(bool(record.issue) for record in open_records)
            causes = _cause_count(open_records)
            count = f"{len(open_records):,} open"
            count += f", {causes:,} causes" if causes < len(open_records) else ""
            yield f"  {severity.label:9} {count}, {filed:,} with an issue"
    flaky = sorted(
        (record for record in records.values() if record.state == "flaky"),
        key=lambda record: (-record.flakes.tried, record.fingerprint),
    )
    if flaky:
        yield "Flaky buckets, which do not reproduce every time:"
    for record in flaky[:_MAX_SHOWN]:
        flakes = record.flakes
        rate = f"reproduced {flakes.shown} of {flakes.tried} times"
        yield f"  {record.fingerprint}  {visible(record.representative.api)}  {rate}"
    if len(flaky) > _MAX_SHOWN:
        yield f"  and {len(flaky) - _MAX_SHOWN:,} more"


def _cause_count(records: Iterable[BaselineRecord]) -> int:
    """Return the number of different causes of the records."""
    from ciguard.baseline import bucket_of
    from ciguard.triage import cause_of

    return len({cause_of(bucket_of(record, Comparison.KNOWN)).name for record in records})
