"""Sentences for an issue's comments when the status of its buckets changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.triage import without_local_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.baseline import BaselineRecord
    from ciguard.domain.findings import Bucket

_MAX_NAMED = 15
"""Maximum number of APIs that one comment names."""


def status_changes(
    buckets: Iterable[Bucket], before: Iterable[BaselineRecord], versions: Mapping[str, str]
) -> str:
    """Return a sentence about targets and versions that showed a known group for the first time.

    Args:
        buckets: the buckets of the group that this run saw.
        before: the records of the group before this run.
        versions: the library's version in this run, by target.

    Returns:
        A sentence; empty if there are no such targets.
    """
    records = list(before)
    known_targets = {target for record in records for target in record.targets}
    seen = {pair for record in records for pair in record.last_seen.versions}
    versioned_targets = {target for target, version in seen if version}
    places = dict.fromkeys(
        _place(target, versions.get(target, ""))
        for bucket in buckets
        for target in bucket.finding.targets
        if target not in known_targets
        or (
            target in versioned_targets
            and versions.get(target)
            and (target, versions[target]) not in seen
        )
    )
    return f"Also seen on {' and '.join(places)}." if places else ""


def new_apis_text(buckets: Iterable[Bucket]) -> str:
    """Return a sentence about further APIs that show the cause of an issue.

    The sentence is empty if there are no buckets.
    """
    names = listed(buckets)
    return f"Also shown by {names}." if names else ""


def regression(
    buckets: Sequence[Bucket], before: Sequence[BaselineRecord], versions: Mapping[str, str]
) -> str:
    """Return a sentence about fixed buckets that were seen again; empty without such buckets.

    Args:
        buckets: the buckets that returned.
        before: the records of these buckets before this run.
        versions: the library's version in this run, by target.
    """
    if not buckets:
        return ""
    places = dict.fromkeys(
        _place(target, versions.get(target, ""))
        for bucket in buckets
        for target in bucket.finding.targets
    )
    last = max(record.last_seen.time for record in before)
    subject = "Seen" if len(buckets) == 1 else f"{listed(buckets)} seen"
    return f"{subject} again on {' and '.join(places)}, for the first time since {last}."


def listed(buckets: Iterable[Bucket]) -> str:
    """Return the names of the buckets' APIs as an enumeration, such as `a, b and c`."""
    names = sorted({without_local_paths(bucket.finding.api) for bucket in buckets})
    shown, more = names[:_MAX_NAMED], len(names) - _MAX_NAMED
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def closing_reason(records: Sequence[BaselineRecord]) -> str:
    """Return the reason to close an issue: the bucket that was fixed last, and the evidence."""
    last = max(records, key=lambda record: (record.decision.changed, record.fingerprint))
    if len(records) == 1:
        return evidence(last)
    api = without_local_paths(last.representative.api)
    return (
        f"All {len(records)} buckets of this issue are fixed; the last was {api}: {evidence(last)}"
    )


def partial_fix_text(records: Sequence[BaselineRecord], *, of: int) -> str:
    """Return a text about the fixed buckets of an issue that stays open, with the evidence."""
    texts = (
        f"{without_local_paths(r.representative.api)}: {evidence(r)}" for r in records[:_MAX_NAMED]
    )
    more = f" And {len(records) - _MAX_NAMED} more." if len(records) > _MAX_NAMED else ""
    return f"Newly fixed, {len(records)} of {of}: {' '.join(texts)}{more}"


def evidence(record: BaselineRecord) -> str:
    """Return sentences about the runs that exercised a fixed bucket without seeing it."""
    runs = []
    for sighting in record.decision.clean_on:
        versions = sighting.versions or tuple((target, "") for target in record.targets)
        where = ", ".join(_place(target, version) for target, version in versions)
        commit = f", commit {sighting.commit}" if sighting.commit else ""
        runs.append(f"{sighting.time} on {where}{commit}")
    last_seen = f"Last seen {record.last_seen.time}{_on_other_targets(record)}."
    if not runs:
        return f"The last runs of the bucket's case did not show the defect. {last_seen}"
    return (
        f"{len(runs)} consecutive runs of the bucket's case did not show the defect: "
        f"{'; '.join(runs)}. {last_seen}"
    )


def _on_other_targets(record: BaselineRecord) -> str:
    """Return a phrase with the targets that showed a bucket and were later replaced.

    Newer releases have replaced them; the phrase is empty if there are none.
    """
    ran = {target for sighting in record.decision.clean_on for target, _ in sighting.versions}
    others = [_place(target, "") for target in record.targets if ran and target not in ran]
    return f" on {', '.join(others)}" if others else ""


def _place(target: str, version: str) -> str:
    """Return a target and its version without local paths, such as the folder of a wheel."""
    name = without_local_paths(target)
    return f"{name} (version {version})" if version else name
