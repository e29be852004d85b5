"""Pruning: what a baseline need not know any longer. Pure functions of records."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ciguard.baseline.record import TIME_FORMAT, BaselineRecord, State, merge_records

if TYPE_CHECKING:
    from ciguard.baseline.comparison import Records


def prune(records: Records, *, now: str, older_than_days: int) -> Records:
    """Return the records that are worth keeping.

    Two kinds go: what was fixed, or never showed every time, and has stayed so for that many days;
    and what is covered, since another record carries its fingerprint as an older name. That one
    takes over what was known.

    Args:
        records: the baseline.
        now: as `Sighting.time`.
        older_than_days: 0 takes all that is fixed or flaky.
    """
    before = datetime.strptime(now, TIME_FORMAT) - timedelta(days=older_than_days)  # noqa: DTZ007 - both are UTC
    limit = before.strftime(TIME_FORMAT)
    kept = {name: record for name, record in records.items() if not _is_over(record, limit)}
    for name, record in _covered(kept):
        keeper = kept[name]
        renamed = replace(record, fingerprint=name)
        aliases = tuple(sorted({*keeper.aliases, *record.aliases} - {name}))
        whole = replace(merge_records(keeper, renamed), aliases=aliases, exhibit=keeper.exhibit)
        kept[name] = whole
        del kept[record.fingerprint]
    return kept


def _is_over(record: BaselineRecord, limit: str) -> bool:
    match record.state:
        case State.FIXED:
            return record.decision.changed <= limit
        case State.FLAKY:
            return record.last_seen.time <= limit
        case _:
            return False


def _covered(records: Records) -> list[tuple[str, BaselineRecord]]:
    """Return pairs of a record's name and another that it covers; no record is in two pairs."""
    pairs: list[tuple[str, BaselineRecord]] = []
    settled: set[str] = set()
    for name in sorted(records):
        for alias in records[name].aliases:
            if alias in records and alias != name and not {name, alias} & settled:
                pairs.append((name, records[alias]))
                settled |= {name, alias}
    return pairs
