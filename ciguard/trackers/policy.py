"""The policy: what gets filed, reopened and closed, and what only goes on the list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.baseline import State, find_record, is_regression
from ciguard.domain import (
    Action,
    Comparison,
    Confirmation,
    FindingClass,
    Policy,
    class_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.baseline import BaselineRecord, Records
    from ciguard.domain import Bucket, Finding
    from ciguard.trackers.disclosure import Discloser


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingRules:
    """What a project wants in its tracker."""

    cap: int = 5
    """Issues that one run may open; the rest goes on the list."""
    per_day: int = 20
    """Issues that all runs of 24 hours may open."""
    policy: Policy = field(default_factory=Policy)
    """Which findings are filed at all."""
    file_first_run: bool = False
    """File the findings of the run that establishes the baseline, too (up to the cap)."""
    numbered: bool = False
    """The tracker numbers its issues: what the baseline names otherwise is in another one."""
    withholds_security: bool = False
    """Others can read the tracker: memory that is read or written out of bounds is reported and
    not filed, unless the policy names that class."""
    discloser: Discloser | None = None
    """Where these are filed in private; nowhere by default."""

    def withholds(self, finding: Finding) -> bool:
        """Tell whether a finding that would be filed must not be published."""
        if not self.withholds_security or self.policy.files_security:
            return False
        # The baseline keeps no outcomes, so it does not know which crashes these are.
        is_unknown = finding.oracle == "crash" and not finding.outcomes
        return is_unknown or class_of(finding) is FindingClass.SECURITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does to its tracker."""

    opened: tuple[Bucket, ...] = ()
    reopened: tuple[Bucket, ...] = ()
    """Fixed once, met again."""
    adopted: tuple[Bucket, ...] = ()
    """Have an issue that the baseline does not know."""
    refreshed: tuple[Bucket, ...] = ()
    """Known, with an issue, and met again."""
    closed: tuple[str, ...] = ()
    """Fingerprints of records that became fixed."""
    listed: tuple[Bucket, ...] = ()
    """Known or new, without an issue of their own."""
    withheld: tuple[Bucket, ...] = ()
    """Security-relevant crashes that are not to be published."""


def plan(
    compared: Iterable[Bucket],
    *,
    before: Records,
    after: Records,
    rules: FilingRules,
    establishes: bool = False,
) -> Plan:
    """Decide what a run of the default branch files.

    Args:
        compared: this run's buckets, compared with `before`.
        before: the baseline before the run.
        after: what `update` made of it; names the issues that the tracker has, too.
        rules: what the project wants.
        establishes: whether there was no baseline before this run.
    """
    cap = rules.cap if rules.file_first_run or not establishes else 0
    compared = list(compared)
    piles: dict[str, list[Bucket]] = {name: [] for name in _PILES}
    for bucket in compared:
        if not _is_fileable(bucket, rules):
            continue
        pile = _pile(bucket, before, after, rules)
        is_full = pile == "opened" and len(piles[pile]) >= cap
        piles["listed" if is_full else pile].append(bucket)
    piles["listed"] += _unmet(compared, after, rules)
    return Plan(
        closed=tuple(sorted(_became_fixed(before, after))),
        **{name: tuple(pile) for name, pile in piles.items()},
    )


_PILES = ("opened", "reopened", "adopted", "refreshed", "listed", "withheld")


def _pile(bucket: Bucket, before: Records, after: Records, rules: FilingRules) -> str:
    """Return the field of `Plan` that a bucket belongs to, caps aside."""
    names = (bucket.fingerprint, *bucket.aliases)
    known, now = (find_record(records, *names) for records in (before, after))
    if known is not None and known.issue:
        return "reopened" if is_regression(bucket, before) else "refreshed"
    if now is not None and now.issue:
        return "adopted"
    if rules.withholds(bucket.finding):
        return "withheld"
    return "opened" if bucket.comparison is Comparison.NEW else "listed"


def _is_fileable(bucket: Bucket, rules: FilingRules) -> bool:
    return (
        bucket.confirmation is Confirmation.CONFIRMED
        and bucket.comparison in {Comparison.NEW, Comparison.KNOWN}
        and rules.policy.action(bucket.finding) >= Action.FILE
    )


def _became_fixed(before: Records, after: Records) -> Iterable[str]:
    for name, record in after.items():
        was_fixed = name in before and before[name].state is State.FIXED
        if record.issue and record.state is State.FIXED and not was_fixed:
            yield name


def _unmet(compared: Iterable[Bucket], after: Records, rules: FilingRules) -> Iterable[Bucket]:
    """Yield open buckets without an issue that this run did not meet: they stay on the list."""
    for bucket in compared:
        if bucket.comparison not in {Comparison.NOT_RUN, Comparison.FIXED}:
            continue
        record = find_record(after, bucket.fingerprint)
        is_open = record is not None and record.state is State.OPEN and not record.issue
        is_filed = rules.policy.action(bucket.finding) >= Action.FILE
        if is_open and is_filed and not rules.withholds(bucket.finding):
            yield bucket


def of_this_tracker(records: Records, rules: FilingRules) -> Records:
    """Return the baseline without the issues that are in a tracker of another kind."""
    if not rules.numbered:
        return records
    return {name: _numbered(record) for name, record in records.items()}


def _numbered(record: BaselineRecord) -> BaselineRecord:
    return record if record.issue.isdecimal() or not record.issue else replace(record, issue="")
