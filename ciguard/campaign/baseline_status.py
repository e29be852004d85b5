"""Status of a baseline: whether it is up to date for the targets of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.baseline import TIME_FORMAT
from ciguard.domain.baseline_status import STALE_AFTER, BaselineState, BaselineStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ciguard.baseline import Records, Sighting
    from ciguard.campaign.conclude import BaselineSnapshot
    from ciguard.domain.findings import TargetSummary


def baseline_status(
    baseline: BaselineSnapshot,
    targets: Iterable[TargetSummary],
    *,
    base: Collection[str],
    now: datetime,
) -> BaselineStatus:
    """Return whether the baseline is up to date for a run on these targets, and why not.

    Args:
        baseline: baseline when the run began.
        targets: targets of the run.
        base: names of the base's targets. If there are any, only their versions must match the
            baseline, as the head has another version on purpose.
        now: current time.
    """
    if baseline.is_first:
        return BaselineStatus(state=BaselineState.MISSING)
    versions = {
        target.name: target.version
        for target in targets
        if not target.not_run and (not base or target.name in base)
    }
    last_runs = _last_runs(baseline)
    times = [time for time, _ in last_runs.values()]
    reasons = tuple(_reasons(last_runs, versions, now))
    return BaselineStatus(
        state=BaselineState.STALE if reasons else BaselineState.FRESH,
        updated_at=max(times, default=""),
        reasons=reasons,
    )


def _last_runs(baseline: BaselineSnapshot) -> dict[str, tuple[str, str]]:
    """Return time and version of the last run by target; older baselines have them in records."""
    last_runs = dict(baseline.frontier.last_runs)
    for sighting in _sightings(baseline.records):
        for target, version in sighting.versions:
            last_runs[target] = max(last_runs.get(target, ("", "")), (sighting.time, version))
    return last_runs


def _sightings(records: Records) -> Iterator[Sighting]:
    for record in records.values():
        yield record.last_seen
        yield from record.decision.clean_on


def _reasons(
    last_runs: Mapping[str, tuple[str, str]], versions: Mapping[str, str], now: datetime
) -> Iterator[str]:
    for target, version in versions.items():
        time, last_version = last_runs.get(target, ("", ""))
        if not time:
            yield f"it was never run on {target}"
            continue
        age = now - datetime.strptime(time, TIME_FORMAT).replace(tzinfo=UTC)
        if last_version != version:
            yield f"it ran on {target} in version {last_version}, this run has {version}"
        elif age > STALE_AFTER:
            yield f"it was last run on {target} {age.days} days ago"
