"""Comparison of a run with the baseline: pure functions that take buckets and records."""

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
    history_of,
    merge_records,
    record_of,
    with_decision,
    with_fingerprint,
    with_representative,
)
from ciguard.domain.findings import Bucket, Comparison, Confirmation, PairKind
from ciguard.domain.outcomes import has_completed
from ciguard.targets import succeeds
from ciguard.triage import newest_recipe, recipe_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ciguard.domain.events import BucketHistory

Records: TypeAlias = Mapping[str, BaselineRecord]
"""Records by fingerprint."""

CLEAN_RUNS_UNTIL_FIXED = 3
"""Number of consecutive clean runs after which an open bucket is fixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercised:
    """The known buckets whose cases this run repeated without seeing the defect.

    All other known buckets that did not show are not exercised, rather than fixed.
    """

    replayed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Targets on which a bucket's stored case did not show the defect, by fingerprint."""
    targets: frozenset[str] = frozenset()
    """Names of all targets of the run."""

    def covers(self, record: BaselineRecord) -> bool:
        """Return whether the run exercised a bucket on all targets that showed it.

        Only the bucket's stored case counts, because other calls of the API need not reach the
        defect. A target that is no longer tested may be replaced by a newer release, unless the
        defect is a difference between targets.
        """
        return bool(record.targets) and all(
            self.exercising_target(record, target) for target in record.targets
        )

    def exercising_target(self, record: BaselineRecord, target: str) -> str:
        """Return the target on which the run repeated a bucket's case, to represent `target`.

        The result is `target` itself, or a newer release if `target` is no longer tested. It is
        empty if the case was not repeated on either of them.
        """
        names = (record.fingerprint, *record.aliases)
        replayed = frozenset[str]().union(*(self.replayed.get(name, ()) for name in names))
        if target in replayed:
            return target
        if target in self.targets or record.representative.pair is not PairKind.NONE:
            return ""
        return next((name for name in sorted(replayed) if succeeds(name, target)), "")


def compare(buckets: Iterable[Bucket], records: Records, exercised: Exercised) -> list[Bucket]:
    """Return this run's buckets and all other open or accepted buckets, each with its comparison.

    A fixed bucket that shows again is new: a regression (see `is_regression`). The confirmation of
    a bucket does not change, so that a verdict must consider confirmation and comparison.

    Args:
        buckets: the buckets of this run.
        records: the records of the baseline before this run.
        exercised: the known buckets that this run exercised without seeing them.

    Returns:
        The buckets sorted by severity, highest first, then by API and fingerprint.
    """
    by_name = records_by_any_name(records)
    compared: list[Bucket] = []
    shown: set[str] = set()
    for bucket in buckets:
        matches = _records_of(bucket, by_name)
        record = matches[0] if matches else None
        compared.append(_compared(bucket, record))
        shown.update(record.fingerprint for record in matches)
    for record in current(records).values():
        if record.fingerprint not in shown and record.state in {State.OPEN, State.ACCEPTED}:
            comparison = Comparison.FIXED if exercised.covers(record) else Comparison.NOT_RUN
            compared.append(bucket_of(record, comparison))
    return sorted(compared, key=lambda b: (-b.finding.severity, b.finding.api, b.fingerprint))


def _records_of(bucket: Bucket, by_name: Records) -> list[BaselineRecord]:
    """Return the records of a bucket; several if a newer recipe merges their fingerprints.

    If a newer recipe splits a record into several buckets, each bucket's own record counts.
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
        comparison=_comparison_of(bucket, record),
        native_stack=bucket.native_stack or stack,
        issue=record.issue if record is not None else "",
        onset=bucket.onset or (record.onset if record is not None else None),
    )


def _comparison_of(bucket: Bucket, record: BaselineRecord | None) -> Comparison:
    if bucket.confirmation is Confirmation.FLAKY:
        return Comparison.FLAKY
    if record is None or record.state is State.FIXED:
        return Comparison.NEW
    return Comparison.ACCEPTED if record.state is State.ACCEPTED else Comparison.KNOWN


def with_base_comparison(
    base: Collection[str],
    compared: Iterable[Bucket],
    shown_on: Mapping[str, Collection[tuple[str, ...]]],
    *,
    added: Collection[str] = (),
) -> list[Bucket]:
    """Return the buckets after the comparison of the head with the base of a pull request.

    New buckets that the base also shows become known, unless the change is known to have added
    them. A difference between base and head stays new, because the pull request introduces it. A
    difference between two targets of the base becomes known. A bucket that only the base shows,
    although its case ran on the head, becomes fixed.

    Args:
        base: names of the base's targets.
        compared: the buckets that `compare` returned.
        shown_on: the targets of each finding in a bucket, by fingerprint.
        added: fingerprints of buckets that the change has added although the base shows them.
    """

    def target_tuples(bucket: Bucket) -> set[tuple[str, ...]]:
        return {bucket.finding.targets, *shown_on.get(bucket.fingerprint, ())}

    def is_known(bucket: Bucket) -> bool:
        suffices = any if bucket.finding.pair is PairKind.NONE else all
        return any(suffices(name in base for name in targets) for targets in target_tuples(bucket))

    def is_fixed(bucket: Bucket) -> bool:
        outcomes = bucket.finding.outcomes.items()
        on_head = [outcome for name, outcome in outcomes if name not in base]
        return (
            bucket.confirmation is Confirmation.CONFIRMED
            and bucket.finding.pair is PairKind.NONE
            and bool(on_head)
            and all(map(has_completed, on_head))
            and all(name in base for targets in target_tuples(bucket) for name in targets)
        )

    def comparison_of(bucket: Bucket) -> Comparison:
        if bucket.comparison not in {Comparison.NEW, Comparison.KNOWN}:
            return bucket.comparison
        if is_fixed(bucket):
            return Comparison.FIXED
        is_older = is_known(bucket) and bucket.fingerprint not in added
        return Comparison.KNOWN if is_older else bucket.comparison

    if not base:
        return list(compared)
    return [replace(bucket, comparison=comparison_of(bucket)) for bucket in compared]


def is_regression(bucket: Bucket, records: Records) -> bool:
    """Return whether a new bucket was fixed before."""
    matches = _records_of(bucket, records_by_any_name(records))
    is_new = bucket.comparison is Comparison.NEW
    return is_new and any(record.state is State.FIXED for record in matches)


def find_record(records: Records, fingerprint: str, *aliases: str) -> BaselineRecord | None:
    """Return the first record that has one of the names as fingerprint or alias; None if none has.

    Args:
        records: the baseline.
        fingerprint: the name to look up first.
        aliases: the names to look up next.
    """
    if fingerprint in records and recipe_number(fingerprint) == newest_recipe():
        return records[fingerprint]  # a newer record cannot replace this record
    by_name = records_by_any_name(records)
    matches = (by_name.get(name) for name in (fingerprint, *aliases))
    return next((record for record in matches if record is not None), None)


def records_by_any_name(records: Records) -> dict[str, BaselineRecord]:
    """Return the current records by fingerprint and by alias."""
    names = {alias: record for record in records.values() for alias in record.aliases}
    return {**names, **current(records)}


def current(records: Records) -> Records:
    """Return the records without those that a record of a newer recipe replaces.

    A store keeps replaced records, so that a merge of two baselines is a union of records. The
    newer record has the data of the records that it replaces.
    """
    newest_recipes: dict[str, int] = {}
    for record in records.values():
        recipe = recipe_number(record.fingerprint)
        for alias in record.aliases:
            newest_recipes[alias] = max(recipe, newest_recipes.get(alias, 0))
    if not newest_recipes:
        return records
    return {
        name: record
        for name, record in records.items()
        if newest_recipes.get(name, 0) <= recipe_number(name)
    }


def histories(records: Records) -> dict[str, BucketHistory]:
    """Return the histories of all current records by fingerprint, for reports."""
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
        records: the previous baseline.
        compared: the buckets that `compare` returned for this run.
        sighting: time, commit and versions of the run.
        clean_runs: number of consecutive clean runs after which an open bucket is fixed.
        repeated: by fingerprint of a flaky bucket, whether its repeated case showed the defect.
    """
    updated = {name: _repeated(record, repeated) for name, record in records.items()}
    by_name = records_by_any_name(updated)
    for bucket in compared:
        previous = _records_of(bucket, by_name)
        record = _merged_record(previous, bucket.fingerprint)
        match bucket.comparison:
            case Comparison.NOT_RUN:
                continue
            case Comparison.FIXED:
                if record is not None and record.state is State.OPEN:
                    changed = _after_clean_run(record, sighting, clean_runs)
                    updated[record.fingerprint] = changed
            case _:
                for old in previous:
                    updated.pop(old.fingerprint, None)
                current_record = _after_occurrence(record, bucket, sighting)
                updated[current_record.fingerprint] = current_record
    return updated


def _merged_record(matching: list[BaselineRecord], fingerprint: str) -> BaselineRecord | None:
    """Merge the records of a bucket into one, under its fingerprint by the newest recipe."""
    if not matching:
        return None
    names = (*(record.fingerprint for record in matching), fingerprint)
    newest = max(names, key=recipe_number)  # the first name with the newest recipe
    return functools.reduce(
        merge_records, (with_fingerprint(record, newest) for record in matching)
    )


def _repeated(record: BaselineRecord, repeated: Mapping[str, bool]) -> BaselineRecord:
    """Return the record of a flaky bucket with the result of repeating its case."""
    if record.state is not State.FLAKY or record.fingerprint not in repeated:
        return record
    shown = int(repeated[record.fingerprint])
    return replace(record, flakes=record.flakes.plus(shown=shown, tried=1))


def _after_clean_run(record: BaselineRecord, sighting: Sighting, needed: int) -> BaselineRecord:
    """Return the record after a clean run; the count restarts if the releases differ."""
    ran_on = tuple(pair for pair in sighting.versions if _represents_any(pair[0], record.targets))
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
    return with_decision(record, decision)


def _represents_any(target: str, targets: Iterable[str]) -> bool:
    """Return whether a target equals, or is a newer release of, one of the targets."""
    return any(target == other or succeeds(target, other) for other in targets)


def _releases(sighting: Sighting) -> tuple[tuple[str, str], ...]:
    """Return targets and releases; the release of a nightly build is the upcoming release."""
    return tuple((target, _release(version)) for target, version in sighting.versions)


def _release(version: str) -> str:
    try:
        return Version(version).base_version
    except InvalidVersion:
        return version


def _after_occurrence(
    record: BaselineRecord | None, bucket: Bucket, sighting: Sighting
) -> BaselineRecord:
    is_flaky = bucket.confirmation is Confirmation.FLAKY
    if record is None:
        return record_of(bucket, sighting, state=State.FLAKY if is_flaky else State.OPEN)
    decision = record.decision
    if decision.clean_runs or (record.state in {State.FIXED, State.FLAKY} and not is_flaky):
        kept = {State.ACCEPTED, *((State.FIXED, State.FLAKY) if is_flaky else ())}
        state = record.state if record.state in kept else State.OPEN
        decision = Decision(changed=sighting.time, state=state, because=decision.because)
    return replace(
        with_representative(with_decision(record, decision), bucket),
        aliases=tuple(sorted({*record.aliases, *bucket.aliases})),
        native_stack=bucket.native_stack or record.native_stack,
        onset=record.onset or bucket.onset,
        targets=tuple(sorted({*record.targets, *bucket.finding.targets})),
        last_seen=max(record.last_seen, sighting),
        flakes=record.flakes.plus(shown=bucket.shown, tried=bucket.tried),
    )


def establish(buckets: Iterable[Bucket], sighting: Sighting) -> Records:
    """Return the records of a new baseline, one for each bucket of a run."""
    return {bucket.fingerprint: _after_occurrence(None, bucket, sighting) for bucket in buckets}


def accept(records: Records, fingerprint: str, *, because: str, time: str) -> Records:
    """Return the baseline after the user accepted a bucket.

    Args:
        records: the previous baseline.
        fingerprint: fingerprint or alias of the bucket.
        because: the user's reason.
        time: time of the decision, in the format of `Sighting.time`.

    Raises:
        KeyError: if no record has that fingerprint.
    """
    record = find_record(records, fingerprint)
    if record is None:
        raise KeyError(fingerprint)
    decision = Decision(changed=Sighting(time=time).time, state=State.ACCEPTED, because=because)
    return {**records, record.fingerprint: with_decision(record, decision)}


def records_with_issues(records: Records, issues: Mapping[str, str]) -> Records:
    """Return the records with the issues that were filed for them.

    Args:
        records: the baseline.
        issues: the number or file of each issue, by fingerprint; an empty text removes an issue.
    """
    linked = dict(records)
    for fingerprint, issue in issues.items():
        record = find_record(records, fingerprint)
        if record is not None:
            linked[record.fingerprint] = replace(record, issue=issue)
    return linked


def merge(records: Records, other: Records) -> Records:
    """Merge two sets of records. Commutative, associative, idempotent."""
    merged = dict(records)
    for name, record in other.items():
        merged[name] = merge_records(merged[name], record) if name in merged else record
    return {name: merged[name] for name in sorted(merged)}
