"""The policy: what gets filed, reopened and closed, and what only goes on the list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.baseline import State, find_record, is_regression
from ciguard.domain import Action, Comparison, Confirmation, Policy
from ciguard.trackers.body import ROLL_UP, roll_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ciguard.baseline import Records
    from ciguard.domain import Bucket
    from ciguard.trackers.contract import Report, Tracker


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingRules:
    """What a project wants in its tracker."""

    cap: int = 5
    """Issues that one run may open; the rest goes on the list."""
    policy: Policy = field(default_factory=Policy)
    """Which findings are filed at all."""
    file_first_run: bool = False
    """File the findings of the run that establishes the baseline, too (up to the cap)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does to its tracker."""

    opened: tuple[Bucket, ...] = ()
    reopened: tuple[Bucket, ...] = ()
    """Fixed once, met again."""
    refreshed: tuple[Bucket, ...] = ()
    """Known, with an issue, and met again: the issue's text shows the latest evidence."""
    closed: tuple[str, ...] = ()
    """Fingerprints of records that became fixed."""
    listed: tuple[Bucket, ...] = ()
    """Known or new, without an issue of their own."""


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
        after: what `update` made of it.
        rules: what the project wants.
        establishes: whether there was no baseline before this run.
    """
    cap = rules.cap if rules.file_first_run or not establishes else 0
    opened: list[Bucket] = []
    reopened: list[Bucket] = []
    refreshed: list[Bucket] = []
    listed: list[Bucket] = []
    for bucket in compared:
        if not _is_fileable(bucket, rules):
            continue
        record = find_record(before, bucket.fingerprint, *bucket.aliases)
        has_issue = record is not None and bool(record.issue)
        if has_issue and is_regression(bucket, before):
            reopened.append(bucket)
        elif has_issue:
            refreshed.append(bucket)
        elif bucket.comparison is Comparison.NEW and len(opened) < cap:
            opened.append(bucket)
        else:
            listed.append(bucket)
    return Plan(
        opened=tuple(opened),
        reopened=tuple(reopened),
        refreshed=tuple(refreshed),
        closed=tuple(sorted(_became_fixed(before, after))),
        listed=tuple(listed),
    )


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


def carry_out(
    chosen: Plan, tracker: Tracker, *, report_of: Callable[[Bucket], Report]
) -> dict[str, str]:
    """Do what the plan says.

    Returns:
        Issue by fingerprint, for the baseline to remember.

    Raises:
        CiguardError: if the tracker fails; what was done before stays done, and doing it again
            makes no second issue.
    """
    issues = {}
    for bucket in (*chosen.reopened, *chosen.opened):
        issue = tracker.open(report_of(bucket))
        if not issue.is_open:
            issue = tracker.reopen(issue, "met again")
        issues[bucket.fingerprint] = issue.number
    for bucket in chosen.refreshed:
        tracker.open(report_of(bucket))
    for fingerprint in chosen.closed:
        found = tracker.find(fingerprint)
        if found is not None and found.is_open:
            tracker.close(found, "not met in the last runs that exercised it")
    if chosen.listed:
        listing = tracker.open(roll_up(chosen.listed))
        if not listing.is_open:
            tracker.reopen(listing, "the list has entries again")
    else:
        listing_before = tracker.find(ROLL_UP)
        if listing_before is not None and listing_before.is_open:
            tracker.close(listing_before, "nothing is left on the list")
    return issues
