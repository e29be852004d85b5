"""How many buckets were known at which time, told from what the baseline keeps of each."""

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
    """Numbers of buckets over time; times are seconds since 1970."""

    known: list[tuple[float, float]]
    """Open or accepted."""
    fixed: list[tuple[float, float]]
    unread: int = 0
    """Records whose times are none: a baseline may be anybody's."""


def trend(histories: Iterable[BucketHistory], *, now: datetime) -> Trend | None:
    """Return how the baseline grew and shrank until `now`; None where nothing is known."""
    changes: dict[float, Counter[str]] = {}
    unread = 0
    for history in histories:
        try:
            happened = list(_changes(history))
        except ValueError:
            unread += 1
            continue
        for when, group, by in happened:
            changes.setdefault(min(when, now.timestamp()), Counter())[group] += by
    if not changes:
        return None
    counts: Counter[str] = Counter()
    known: list[tuple[float, float]] = []
    fixed: list[tuple[float, float]] = []
    for when in (*sorted(changes), now.timestamp()):
        for points, group in ((known, "known"), (fixed, _FIXED)):
            points.append((when, float(counts[group])))  # the step's foot
        counts.update(changes.pop(when, {}))
        for points, group in ((known, "known"), (fixed, _FIXED)):
            points.append((when, float(counts[group])))
    return Trend(known=thinned(known), fixed=thinned(fixed), unread=unread)


def _changes(history: BucketHistory) -> Iterator[tuple[float, str, int]]:
    before = ""
    times = [history.first_seen, *(when for when, _ in history.states[1:])]
    states = [state for _, state in history.states] or ["open"]
    for when, state in zip(times, states, strict=True):
        group = "known" if state in _KNOWN else state
        if group == before:
            continue
        if before:
            yield _seconds(when), before, -1
        yield _seconds(when), group, 1
        before = group


def _seconds(when: str) -> float:
    return datetime.fromisoformat(when).astimezone(UTC).timestamp()


def thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return about `_MAX_POINTS` of the points, the first and the last among them."""
    step = -(-len(points) // _MAX_POINTS)
    return [*points[:-1:step], points[-1]]
