"""Numbers of known and fixed buckets over time, computed from the histories in the baseline."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.events import BucketHistory

_MAX_POINTS = 160
_KNOWN = frozenset({"open", "accepted"})
_FIXED = "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Numbers of buckets over time, as pairs of a time in seconds since 1970 and a number."""

    known: list[tuple[float, float]]
    """Number of open and accepted buckets."""
    fixed: list[tuple[float, float]]
    """Number of fixed buckets."""
    invalid_records: int = 0
    """Number of records of an untrusted baseline that have invalid times."""


def trend(histories: Iterable[BucketHistory], *, now: datetime) -> Trend | None:
    """Return the numbers of buckets until `now`; None if no history is valid."""
    changes: dict[float, Counter[str]] = {}
    invalid_records = 0
    for history in histories:
        try:
            history_changes = list(_changes(history))
        except ValueError:
            invalid_records += 1
            continue
        for time_s, group, change in history_changes:
            changes.setdefault(min(time_s, now.timestamp()), Counter())[group] += change
    if not changes:
        return None
    counts: Counter[str] = Counter()
    known: list[tuple[float, float]] = []
    fixed: list[tuple[float, float]] = []
    for time_s in (*sorted(changes), now.timestamp()):
        for points, group in ((known, "known"), (fixed, _FIXED)):
            points.append((time_s, float(counts[group])))  # the value before the step
        counts.update(changes.pop(time_s, {}))
        for points, group in ((known, "known"), (fixed, _FIXED)):
            points.append((time_s, float(counts[group])))
    return Trend(
        known=reduce_points(known), fixed=reduce_points(fixed), invalid_records=invalid_records
    )


def _changes(history: BucketHistory) -> Iterator[tuple[float, str, int]]:
    """Yield time, group of states and change of its number, for each change of a bucket."""
    before = ""
    times = [history.first_seen, *(time for time, _ in history.states[1:])]
    states = [state for _, state in history.states] or ["open"]
    for time, state in zip(times, states, strict=True):
        group = "known" if state in _KNOWN else state
        if group == before:
            continue
        if before:
            yield _seconds(time), before, -1
        yield _seconds(time), group, 1
        before = group


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).astimezone(UTC).timestamp()


def reduce_points(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return evenly chosen points, about `_MAX_POINTS` at most, with the first and the last one."""
    step = -(-len(points) // _MAX_POINTS)
    return [*points[:-1:step], points[-1]]
