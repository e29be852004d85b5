"""Pruning: removal of obsolete records from a baseline, by pure functions that take records."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ciguard.baseline.record import TIME_FORMAT, BaselineRecord, State, merge_records

if TYPE_CHECKING:
    from ciguard.baseline.comparison import Records


def prune(records: Records, *, now: str, older_than_days: int) -> Records:
    """Return the records without obsolete ones.

    A record is obsolete if it has been fixed or flaky for some days. A record is also removed if
    another record has its fingerprint as an alias; that record takes over its data.

    Args:
        records: the baseline.
        now: current time, in the format of `Sighting.time`.
        older_than_days: minimum age of an obsolete record in days; 0 removes all fixed and flaky
            records.
    """
    # DTZ007: all times in a baseline are in UTC.
    start = datetime.strptime(now, TIME_FORMAT) - timedelta(days=older_than_days)  # noqa: DTZ007
    limit = start.strftime(TIME_FORMAT)
    kept = {name: record for name, record in records.items() if not _is_obsolete(record, limit)}
    for name, old in _replaced_records(kept):
        record = kept[name]
        renamed = replace(old, fingerprint=name)
        aliases = tuple(sorted({*record.aliases, *old.aliases} - {name}))
        merged = replace(
            merge_records(record, renamed), aliases=aliases, representative=record.representative
        )
        kept[name] = merged
        del kept[old.fingerprint]
    return kept


def _is_obsolete(record: BaselineRecord, limit: str) -> bool:
    match record.state:
        case State.FIXED:
            return record.decision.changed <= limit
        case State.FLAKY:
            return record.last_seen.time <= limit
        case _:
            return False


def _replaced_records(records: Records) -> list[tuple[str, BaselineRecord]]:
    """Return pairs of a record's fingerprint and another record that it replaces.

    Each record is in at most one pair.
    """
    pairs: list[tuple[str, BaselineRecord]] = []
    paired: set[str] = set()
    for name in sorted(records):
        for alias in records[name].aliases:
            if alias in records and alias != name and not {name, alias} & paired:
                pairs.append((name, records[alias]))
                paired |= {name, alias}
    return pairs
