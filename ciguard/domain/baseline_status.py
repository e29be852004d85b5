"""Status of a baseline: whether it exists and is up to date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

STALE_AFTER = timedelta(days=14)
"""Age at which a baseline is stale: two weekly batches, so that one may be missed."""


class BaselineState(StrEnum):
    """State of the baseline when the run began."""

    MISSING = "missing"
    """There was no baseline."""
    FRESH = "fresh"
    """Up to date: new buckets come from the change."""
    STALE = "stale"
    """Old or from other versions: new buckets may be older than the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineStatus:
    """Status of the baseline that a run is compared with."""

    state: BaselineState
    updated_at: str = ""
    """Time of the last update, UTC as `2026-01-31T23:59:00Z`; empty if unknown."""
    reasons: tuple[str, ...] = ()
    """Reasons why it is stale, as phrases. May hold names of targets."""
