"""How far a baseline can be trusted: when it was written, and with which versions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.baseline import TIME_FORMAT
from ciguard.domain.standing import STALE_AFTER, BaselineStanding, BaselineState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ciguard.baseline import Records, Sighting
    from ciguard.campaign.conclude import Memory
    from ciguard.domain.findings import TargetSummary


def standing_of(
    memory: Memory, targets: Iterable[TargetSummary], *, base: Collection[str], now: datetime
) -> BaselineStanding:
    """Return how far the baseline can be trusted for a run on these targets.

    Args:
        memory: as it was when the run began.
        targets: of the run.
        base: names of the base's targets. Where there are any, only these must be those of the
            baseline: a head is meant to be another version.
        now: the time of day.
    """
    if memory.is_first:
        return BaselineStanding(state=BaselineState.MISSING)
    versions = {
        target.name: target.version
        for target in targets
        if not target.not_run and (not base or target.name in base)
    }
    ran = _last_runs(memory)
    times = [time for time, _ in ran.values()]
    reasons = tuple(_reasons(ran, versions, now))
    return BaselineStanding(
        state=BaselineState.STALE if reasons else BaselineState.FRESH,
        updated_at=max(times, default=""),
        reasons=reasons,
    )


def _last_runs(memory: Memory) -> dict[str, tuple[str, str]]:
    """Return time and version by target; what an older ciguard wrote only records tell."""
    ran = dict(memory.frontier.ran)
    for sighting in _sightings(memory.records):
        for target, version in sighting.versions:
            ran[target] = max(ran.get(target, ("", "")), (sighting.time, version))
    return ran


def _sightings(records: Records) -> Iterator[Sighting]:
    for record in records.values():
        yield record.last_seen
        yield from record.decision.clean_on


def _reasons(
    ran: Mapping[str, tuple[str, str]], versions: Mapping[str, str], now: datetime
) -> Iterator[str]:
    for target, version in versions.items():
        time, known = ran.get(target, ("", ""))
        if not time:
            yield f"it was never run on {target}"
            continue
        age = now - datetime.strptime(time, TIME_FORMAT).replace(tzinfo=UTC)
        if known != version:
            yield f"it ran on {target} in version {known}, this run has {version}"
        elif age > STALE_AFTER:
            yield f"it was last run on {target} {age.days} days ago"
