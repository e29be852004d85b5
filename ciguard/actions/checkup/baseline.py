"""Check the baseline: whether it exists, and how old it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.actions.checkup.diagnosis import healthy, problem, unknown, warning
from ciguard.baseline import TIME_FORMAT, open_store
from ciguard.config import location_text
from ciguard.domain.baseline_status import STALE_AFTER
from ciguard.domain.text import visible
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from ciguard.actions.checkup.diagnosis import Diagnosis
    from ciguard.baseline import Records
    from ciguard.config import Location

_SUBJECT = "baseline"
_ESTABLISH = (
    "Establish the baseline with a run on the default branch (`gh workflow run "
    "ciguard-nightly.yml`). Until then, pull requests have no baseline to compare with."
)


def examine_baseline(location: Location, *, now: datetime) -> Diagnosis:
    """Return the diagnosis of a baseline.

    Args:
        location: the location of the baseline.
        now: the current time, with its time zone.
    """
    place = visible(location_text(location), limit=200)
    store = open_store(location)
    try:
        if not store.exists():
            return warning(_SUBJECT, f"there is no baseline in {place}", _ESTABLISH)
    except BaselineError as error:
        return unknown(
            _SUBJECT, visible(str(error)), "Run this command where git can fetch the baseline."
        )
    try:
        records = store.load()
    except BaselineError as error:
        return problem(
            _SUBJECT, visible(str(error)), "Correct the cause that the message above names."
        )
    written = _last_written(records)
    if written is None:
        return healthy(_SUBJECT, f"{place}: no buckets")
    age = now - written
    text = f"{place}: {len(records)} buckets, last updated {age.days} days ago"
    if age > STALE_AFTER:
        return warning(
            _SUBJECT,
            text,
            "Find out why the nightly runs stopped. Until they run again, pull requests "
            "may be blamed for older defects.",
        )
    return healthy(_SUBJECT, text)


def _last_written(records: Records) -> datetime | None:
    times = [
        sighting.time
        for record in records.values()
        for sighting in (record.last_seen, *record.decision.clean_on)
    ]
    if not times:
        return None
    return datetime.strptime(max(times), TIME_FORMAT).replace(tzinfo=UTC)
