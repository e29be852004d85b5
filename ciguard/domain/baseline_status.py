"""Status of a baseline: whether it exists and is up to date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

STALE_AFTER = timedelta(days=14)
"""Age from which on a baseline is stale: two intervals of a weekly run, so that one may fail."""


class BaselineState(StrEnum):
    """State of the baseline when the run began."""

    MISSING = "missing"
    """There was no baseline."""
    FRESH = "fresh"
    """The baseline is up to date: new buckets are due to the change."""
    STALE = "stale"
    """The baseline is old or from other versions: a new bucket may be older than the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineStatus:
    """Status of the baseline that a run is compared with."""

    state: BaselineState
    updated_at: str = ""
    """Time of the last update in UTC, such as `2026-01-31T23:59:00Z`; empty if unknown."""
    reasons: tuple[str, ...] = ()
    """Reasons why the baseline is stale, as phrases. May hold names of targets."""
