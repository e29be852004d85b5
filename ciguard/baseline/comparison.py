"""This run against the baseline: pure functions of buckets and records."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from packaging.version import InvalidVersion, Version

from ciguard.baseline.record import (
    BaselineRecord,
    Decision,
    Sighting,
    State,
    bucket_of,
    decided,
    history_of,
    merge_records,
    record_of,
    renamed,
    with_exhibit,
)
from ciguard.domain.findings import Bucket, Comparison, Confirmation, PairKind
from ciguard.domain.outcomes import ended_well
from ciguard.targets import succeeds
from ciguard.triage import newest_recipe, recipe_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ciguard.domain.events import BucketHistory

Records: TypeAlias = Mapping[str, BaselineRecord]
"""By fingerprint."""

CLEAN_RUNS_UNTIL_FIXED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercised:
    """What this run did, so that silence about a known bucket can be told from its absence."""

    replayed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Fingerprint → targets on which the stored case ended well, and nothing was found then."""
    targets: frozenset[str] = frozenset()
    """Names of all targets that the run was for."""

    def covers(self, record: BaselineRecord) -> bool:
        """Return whether the run would have had to meet the bucket, were it still there.

        That takes the bucket's own case on every target where it was met: another call of the API
        need not lead there, and on fewer targets it could live on where nobody looked. A target
        that is run no more may have a successor: a project that pins a newer release meets the
        bucket there, or it is fixed. A difference between targets has none.
        """
        return bool(record.targets) and all(
            self.exercised_for(record, target) for target in record.targets
        )

    def exercised_for(self, record: BaselineRecord, target: str) -> str:
        """Return where the case ran that a target would have met the bucket by; empty if nowhere.

        That is the target itself, or the successor of one that the run was not for.
        """
        names = (record.fingerprint, *record.aliases)
        replayed = frozenset[str]().union(*(self.replayed.get(name, ()) for name in names))
        if target in replayed:
            return target
        if target in self.targets or record.exhibit.pair is not PairKind.NONE:
            return ""
        return next((name for name in sorted(replayed) if succeeds(name, target)), "")


def compare(buckets: Iterable[Bucket], records: Records, exercised: Exercised) -> list[Bucket]:
    """Return this run's buckets and the baseline's unmet ones, each with its comparison.

    A fixed bucket that is met again is new: a regression (see `is_regression`).
    A bucket whose confirmation is pending keeps that: whoever judges the run must look at both.

    Returns:
        Sorted by severity, greatest first, then API and fingerprint. Fixed and flaky records that
        were not met are left out.
    """
    by_name = by_any_name(records)
    compared: list[Bucket] = []
    met: set[str] = set()
    for bucket in buckets:
        known = _known_as(bucket, by_name)
        record = known[0] if known else None
        compared.append(_compared(bucket, record))
        met.update(record.fingerprint for record in known)
    for record in current(records).values():
        if record.fingerprint not in met and record.state in {State.OPEN, State.ACCEPTED}:
            gone = Comparison.FIXED if exercised.covers(record) else Comparison.NOT_RUN
            compared.append(bucket_of(record, gone))
    return sorted(compared, key=lambda b: (-b.finding.severity, b.finding.api, b.fingerprint))


def _known_as(bucket: Bucket, by_name: Records) -> list[BaselineRecord]:
    """Return the records of a bucket: a newer recipe may join several under one fingerprint.

    Where it parts one into several, the bucket's own record counts, not those of its siblings.
    """
    own = by_name.get(bucket.fingerprint)
    named = {name: by_name[name] for name in bucket.aliases if name in by_name}
    older = [record for name, record in named.items() if record.fingerprint == name]
    if own is None and not older:
        return list(named.values())[:1]
    return [*([] if own is None else [own]), *(record for record in older if record != own)]


def _compared(bucket: Bucket, record: BaselineRecord | None) -> Bucket:
    stack = record.native_stack if record is not None else ()
    return replace(
        bucket,
        comparison=_of_bucket(bucket, record),
        native_stack=bucket.native_stack or stack,
        issue=record.issue if record is not None else "",
        onset=bucket.onset or (record.onset if record is not None else None),
    )


def _of_bucket(bucket: Bucket, record: BaselineRecord | None) -> Comparison:
    if bucket.confirmation is Confirmation.FLAKY:
        return Comparison.FLAKY
    if record is None or record.state is State.FIXED:
        return Comparison.NEW
    return Comparison.ACCEPTED if record.state is State.ACCEPTED else Comparison.KNOWN


def known_to(
    base: Collection[str],
    compared: Iterable[Bucket],
    shown_on: Mapping[str, Collection[tuple[str, ...]]],
) -> list[Bucket]:
    """Return compared buckets; a new one that the base of a pull request shows too is known.

    A difference between base and head is new: that is what the pull request changes. One between
    two targets of the base is known. What only the base shows, although its case ran on the head,
    is fixed by the pull request.

    Args:
        base: names of the base's targets.
        compared: what `compare` returned.
        shown_on: fingerprint → the targets of each finding that fell into the bucket.
    """

    def every(bucket: Bucket) -> set[tuple[str, ...]]:
        return {bucket.finding.targets, *shown_on.get(bucket.fingerprint, ())}

    def is_known(bucket: Bucket) -> bool:
        shows = any if bucket.finding.pair is PairKind.NONE else all
        return any(shows(name in base for name in targets) for targets in every(bucket))

    def is_fixed(bucket: Bucket) -> bool:
        outcomes = bucket.finding.outcomes.items()
        on_head = [outcome for name, outcome in outcomes if name not in base]
        return (
            bucket.confirmation is Confirmation.CONFIRMED
            and bucket.finding.pair is PairKind.NONE
            and bool(on_head)
            and all(map(ended_well, on_head))
            and all(name in base for targets in every(bucket) for name in targets)
        )

    def judged(bucket: Bucket) -> Comparison:
        if bucket.comparison not in {Comparison.NEW, Comparison.KNOWN}:
            return bucket.comparison
        if is_fixed(bucket):
            return Comparison.FIXED
        return Comparison.KNOWN if is_known(bucket) else bucket.comparison

    if not base:
        return list(compared)
    return [replace(bucket, comparison=judged(bucket)) for bucket in compared]


def is_regression(bucket: Bucket, records: Records) -> bool:
    """Return whether a new bucket is one that had been fixed."""
    known = _known_as(bucket, by_any_name(records))
    is_new = bucket.comparison is Comparison.NEW
    return is_new and any(record.state is State.FIXED for record in known)


def find_record(records: Records, fingerprint: str, *aliases: str) -> BaselineRecord | None:
    """Return the record with that fingerprint or alias, else with one of the further aliases."""
    if fingerprint in records and recipe_number(fingerprint) == newest_recipe():
        return records[fingerprint]  # none can have replaced it
    by_name = by_any_name(records)
    found = (by_name.get(name) for name in (fingerprint, *aliases))
    return next((record for record in found if record is not None), None)


def by_any_name(records: Records) -> dict[str, BaselineRecord]:
    """Return the records by their fingerprints and by those of older recipes."""
    names = {alias: record for record in records.values() for alias in record.aliases}
    return {**names, **current(records)}


def current(records: Records) -> Records:
    """Return the records without those that a newer recipe has given another name.

    A store keeps these, so that merging stays a union: what they knew is in the newer record.
    """
    renamed_to: dict[str, int] = {}
    for record in records.values():
        for alias in record.aliases:
            renamed_to[alias] = max(recipe_number(record.fingerprint), renamed_to.get(alias, 0))
    if not renamed_to:
        return records
    return {
        name: record
        for name, record in records.items()
        if renamed_to.get(name, 0) <= recipe_number(name)
    }


def histories(records: Records) -> dict[str, BucketHistory]:
    """Return what is known of every bucket, for those who report on a run."""
    return {name: history_of(record) for name, record in current(records).items()}


def update(
    records: Records,
    compared: Iterable[Bucket],
    sighting: Sighting,
    *,
    clean_runs: int = CLEAN_RUNS_UNTIL_FIXED,
    repeated: Mapping[str, bool] = MappingProxyType({}),
) -> Records:
    """Return the baseline after a run of the default branch.

    Args:
        records: the baseline before.
        compared: what `compare` returned for this run.
        sighting: when, on which commit and with which versions the run was made.
        clean_runs: runs in a row that exercise an open bucket and do not meet it until it is fixed.
        repeated: for buckets whose stored case was run again, whether they showed.
    """
    updated = {name: _repeated(record, repeated) for name, record in records.items()}
    by_name = by_any_name(updated)
    for bucket in compared:
        known = _known_as(bucket, by_name)
        record = _joined(known, bucket.fingerprint)
        match bucket.comparison:
            case Comparison.NOT_RUN:
                continue
            case Comparison.FIXED:
                if record is not None and record.state is State.OPEN:
                    changed = _after_clean_run(record, sighting, clean_runs)
                    updated[record.fingerprint] = changed
            case _:
                for older in known:
                    updated.pop(older.fingerprint, None)
                seen = _met(record, bucket, sighting)
                updated[seen.fingerprint] = seen
    return updated


def _joined(known: list[BaselineRecord], fingerprint: str) -> BaselineRecord | None:
    """Return what is known of a bucket as one record, under the name that it has now."""
    if not known:
        return None
    names = (*(record.fingerprint for record in known), fingerprint)
    newest = max(names, key=recipe_number)  # among equals, the record's own
    return functools.reduce(merge_records, (renamed(record, newest) for record in known))


def _repeated(record: BaselineRecord, repeated: Mapping[str, bool]) -> BaselineRecord:
    """Return the record of a flaky bucket with what running its case again has shown."""
    if record.state is not State.FLAKY or record.fingerprint not in repeated:
        return record
    shown = int(repeated[record.fingerprint])
    return replace(record, flakes=record.flakes.plus(shown=shown, tried=1))


def _after_clean_run(record: BaselineRecord, sighting: Sighting, needed: int) -> BaselineRecord:
    """Count a run that should have met the bucket and did not; another release counts anew."""
    ran_on = tuple(pair for pair in sighting.versions if _stands_for(pair[0], record.targets))
    clean = replace(sighting, versions=ran_on)
    before = record.decision.clean_on
    is_same_release = not before or _releases(before[-1]) == _releases(clean)
    count = record.decision.clean_runs + 1 if is_same_release else 1
    decision = replace(
        record.decision,
        changed=sighting.time,
        state=State.FIXED if count >= needed else record.state,
        clean_runs=count,
        clean_on=((*before, clean) if is_same_release else (clean,))[-needed:],
    )
    return decided(record, decision)


def _stands_for(target: str, targets: Iterable[str]) -> bool:
    return any(target == other or succeeds(target, other) for other in targets)


def _releases(sighting: Sighting) -> tuple[tuple[str, str], ...]:
    """Return what ran: of nightly builds, the release that they lead to."""
    return tuple((target, _release(version)) for target, version in sighting.versions)


def _release(version: str) -> str:
    try:
        return Version(version).base_version
    except InvalidVersion:
        return version


def _met(record: BaselineRecord | None, bucket: Bucket, sighting: Sighting) -> BaselineRecord:
    is_flaky = bucket.confirmation is Confirmation.FLAKY
    if record is None:
        return record_of(bucket, sighting, state=State.FLAKY if is_flaky else State.OPEN)
    decision = record.decision
    if decision.clean_runs or (record.state in {State.FIXED, State.FLAKY} and not is_flaky):
        kept = {State.ACCEPTED, *((State.FIXED, State.FLAKY) if is_flaky else ())}
        state = record.state if record.state in kept else State.OPEN
        decision = Decision(changed=sighting.time, state=state, because=decision.because)
    return replace(
        with_exhibit(decided(record, decision), bucket),
        aliases=tuple(sorted({*record.aliases, *bucket.aliases})),
        native_stack=bucket.native_stack or record.native_stack,
        onset=record.onset or bucket.onset,
        targets=tuple(sorted({*record.targets, *bucket.finding.targets})),
        last_seen=max(record.last_seen, sighting),
        flakes=record.flakes.plus(shown=bucket.shown, tried=bucket.tried),
    )


def establish(buckets: Iterable[Bucket], sighting: Sighting) -> Records:
    """Return the first baseline: everything that the run met."""
    return {bucket.fingerprint: _met(None, bucket, sighting) for bucket in buckets}


def accept(records: Records, fingerprint: str, *, because: str, time: str) -> Records:
    """Return the baseline after a person said why a bucket may stay.

    Raises:
        KeyError: if no record has that fingerprint.
    """
    record = find_record(records, fingerprint)
    if record is None:
        raise KeyError(fingerprint)
    decision = Decision(changed=Sighting(time=time).time, state=State.ACCEPTED, because=because)
    return {**records, record.fingerprint: decided(record, decision)}


def with_issues(records: Records, issues: Mapping[str, str]) -> Records:
    """Return the baseline with the issues that were filed, by fingerprint."""
    linked = dict(records)
    for fingerprint, issue in issues.items():
        record = find_record(records, fingerprint)
        if record is not None:
            linked[record.fingerprint] = replace(record, issue=issue)
    return linked


def merge(one: Records, other: Records) -> Records:
    """Return what both sets of records know. Commutative, associative, idempotent."""
    merged = dict(one)
    for name, record in other.items():
        merged[name] = merge_records(merged[name], record) if name in merged else record
    return {name: merged[name] for name in sorted(merged)}
