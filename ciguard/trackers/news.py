"""What is said in an issue when something changed: plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.triage import without_local_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.baseline import BaselineRecord
    from ciguard.domain.findings import Bucket

_MAX_NAMED = 15
"""APIs in one comment."""


def news(
    buckets: Iterable[Bucket], before: Iterable[BaselineRecord], versions: Mapping[str, str]
) -> str:
    """Return on which targets and versions a known group was met for the first time.

    Args:
        buckets: of the group, as this run met them.
        before: what was known of the group.
        versions: library version by target, in this run.

    Returns:
        Empty where nothing is new.
    """
    known = list(before)
    met_on = {target for record in known for target in record.targets}
    seen = {pair for record in known for pair in record.last_seen.versions}
    had_version = {target for target, version in seen if version}
    places = dict.fromkeys(
        _place(target, versions.get(target, ""))
        for bucket in buckets
        for target in bucket.finding.targets
        if target not in met_on
        or (
            target in had_version
            and versions.get(target)
            and (target, versions[target]) not in seen
        )
    )
    return f"Also met on {' and '.join(places)}." if places else ""


def joined(buckets: Iterable[Bucket]) -> str:
    """Return which APIs show the cause of a known issue, too; empty for none."""
    names = listed(buckets)
    return f"Also shown by {names}." if names else ""


def regression(
    buckets: Sequence[Bucket], before: Sequence[BaselineRecord], versions: Mapping[str, str]
) -> str:
    """Return that fixed buckets were met again; empty for none."""
    if not buckets:
        return ""
    places = dict.fromkeys(
        _place(target, versions.get(target, ""))
        for bucket in buckets
        for target in bucket.finding.targets
    )
    last = max(record.last_seen.time for record in before)
    what, it = ("Met", "it") if len(buckets) == 1 else (f"{listed(buckets)} met", "they")
    return f"{what} again on {' and '.join(places)}; {it} had not been met since {last}."


def listed(buckets: Iterable[Bucket]) -> str:
    """Return the APIs of buckets as a phrase."""
    names = sorted({without_local_paths(bucket.finding.api) for bucket in buckets})
    shown, more = names[:_MAX_NAMED], len(names) - _MAX_NAMED
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def mended(records: Sequence[BaselineRecord]) -> str:
    """Return why an issue is closed: which bucket was fixed last, and by what evidence."""
    last = max(records, key=lambda record: (record.decision.changed, record.fingerprint))
    if len(records) == 1:
        return evidence(last)
    api = without_local_paths(last.exhibit.api)
    return (
        f"All {len(records)} buckets of this issue are fixed; the last was {api}: {evidence(last)}"
    )


def part_mended(records: Sequence[BaselineRecord], *, of: int) -> str:
    """Return which buckets of an issue are fixed while others are not, and by what evidence."""
    each = (f"{without_local_paths(r.exhibit.api)}: {evidence(r)}" for r in records[:_MAX_NAMED])
    more = f" And {len(records) - _MAX_NAMED} more." if len(records) > _MAX_NAMED else ""
    return f"Fixed now, {len(records)} of {of}: {' '.join(each)}{more}"


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
