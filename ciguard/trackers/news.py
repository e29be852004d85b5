"""What is said in an issue when something changed: plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.triage import without_local_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.domain import Bucket


def news(bucket: Bucket, before: BaselineRecord, versions: Mapping[str, str]) -> str:
    """Return on which targets and versions a known bucket was met for the first time.

    Args:
        bucket: as this run met it.
        before: what was known of it.
        versions: library version by target, in this run.

    Returns:
        Empty where nothing is new.
    """
    seen = dict(before.last_seen.versions)
    places = [
        _place(target, versions.get(target, ""))
        for target in bucket.finding.targets
        if target not in before.targets
        or (seen.get(target) and versions.get(target) and seen[target] != versions[target])
    ]
    return f"Also met on {' and '.join(places)}." if places else ""


def regression(bucket: Bucket, before: BaselineRecord, versions: Mapping[str, str]) -> str:
    """Return why a fixed bucket's issue is opened again."""
    places = [_place(target, versions.get(target, "")) for target in bucket.finding.targets]
    return (
        f"Met again on {' and '.join(places)}; it had not been met since {before.last_seen.time}."
    )


def evidence(record: BaselineRecord) -> str:
    """Return in which runs a bucket that counts as fixed was exercised and not met."""
    runs = []
    for sighting in record.decision.clean_on:
        versions = sighting.versions or tuple((target, "") for target in record.targets)
        where = ", ".join(_place(target, version) for target, version in versions)
        commit = f", commit {sighting.commit}" if sighting.commit else ""
        runs.append(f"{sighting.time} on {where}{commit}")
    met = f"Last met {record.last_seen.time}{_on_other_targets(record)}."
    if not runs:
        return f"Not met in the last runs that exercised it. {met}"
    return f"Not met in {len(runs)} runs in a row that exercised it: {'; '.join(runs)}. {met}"


def _on_other_targets(record: BaselineRecord) -> str:
    """Return where a bucket was met that no clean run was for: a newer release took its place."""
    ran = {target for sighting in record.decision.clean_on for target, _ in sighting.versions}
    others = [_place(target, "") for target in record.targets if ran and target not in ran]
    return f" on {', '.join(others)}" if others else ""


def _place(target: str, version: str) -> str:
    """Return a target as others may see it: a wheel's folder is this machine's business."""
    name = without_local_paths(target)
    return f"{name} (version {version})" if version else name
