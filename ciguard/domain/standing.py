"""How far a baseline can be trusted: whether there is one, and whether it is up to date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

STALE_AFTER = timedelta(days=14)
"""Twice what a weekly batch needs, so that one that was missed does not cry wolf."""


class BaselineState(StrEnum):
    """Whether what a run calls new can be believed."""

    MISSING = "missing"
    """There was none when the run began."""
    FRESH = "fresh"
    STALE = "stale"
    """Old, or made with other versions: what is called new may be older than the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineStanding:
    """What is known of the baseline that a run was compared with."""

    state: BaselineState
    updated_at: str = ""
    """When a run last wrote it, UTC as `2026-01-31T23:59:00Z`; empty if nobody knows."""
    reasons: tuple[str, ...] = ()
    """Why it is stale, as phrases for people. May hold names of targets."""
