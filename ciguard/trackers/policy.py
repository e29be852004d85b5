"""The policy: what gets filed, reopened and closed, and what only goes on the list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.baseline import State
from ciguard.domain.findings import Comparison, Confirmation
from ciguard.domain.policy import Action, FindingClass, Policy, class_of
from ciguard.oracles import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.baseline import BaselineRecord, Records
    from ciguard.domain.findings import Bucket
    from ciguard.trackers.disclosure import Discloser
    from ciguard.trackers.groups import BucketGroup, GroupedBucket


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

    def withholds(self, bucket: Bucket) -> bool:
        """Return whether a bucket that would be filed must not be published."""
        if not self.withholds_security or self.policy.files_security:
            return False
        return _may_corrupt(bucket)

    def files(self, bucket: Bucket) -> bool:
        """Return whether the policy wants an issue about such a bucket."""
        return self.policy.action(bucket.finding) >= Action.FILE


def _may_corrupt(bucket: Bucket) -> bool:
    """Return whether a crash is security-relevant, or may be for all that the baseline keeps."""
    finding = bucket.finding
    if finding.outcomes or not traits_of(finding.oracle).is_death:
        return class_of(finding) is FindingClass.SECURITY
    return True  # the baseline keeps no outcomes: on another target it may have corrupted memory


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingPlan:
    """What a run does to its tracker."""

    opened: tuple[BucketGroup, ...] = ()
    reopened: tuple[BucketGroup, ...] = ()
    """Fixed once, met again."""
    adopted: tuple[BucketGroup, ...] = ()
    """Have an issue that the baseline does not know."""
    refreshed: tuple[BucketGroup, ...] = ()
    """Known, with an issue; what there is to report of them is the author's decision."""
    ticked: tuple[BucketGroup, ...] = ()
    """Not met by this run, which made a member count as fixed while others do not."""
    closed: tuple[BucketGroup, ...] = ()
    """Every member is fixed by now, or accepted."""
    listed: tuple[BucketGroup, ...] = ()
    """Known or new, without an issue of their own."""
    withheld: tuple[BucketGroup, ...] = ()
    """With security-relevant crashes that are not to be published."""


def plan(
    groups: Iterable[BucketGroup], *, rules: FilingRules, establishes: bool = False
) -> FilingPlan:
    """Decide what a run of the default branch files.

    Args:
        groups: of this run's buckets and of the baseline; they name the issues that the tracker
            has, too.
        rules: what the project wants.
        establishes: whether there was no baseline before this run.
    """
    cap = rules.cap if rules.file_first_run or not establishes else 0
    piles: dict[str, list[BucketGroup]] = {name: [] for name in _PILES}
    for group in groups:
        for pile, part in _parts(_counted(group, rules), rules):
            is_full = pile == "opened" and len(piles[pile]) >= cap
            piles["listed" if is_full else pile].append(part)
    return FilingPlan(**{name: tuple(pile) for name, pile in piles.items()})


_PILES = ("opened", "reopened", "adopted", "refreshed", "ticked", "closed", "listed", "withheld")


def _counted(group: BucketGroup, rules: FilingRules) -> BucketGroup:
    """Return the group of those members that an issue is about, or was."""
    marked = (replace(m, is_met=_is_met(m.bucket, rules)) for m in group.members)
    return replace(group, members=tuple(m for m in marked if _counts(m, rules)))


def _is_met(bucket: Bucket, rules: FilingRules) -> bool:
    return (
        bucket.confirmation is Confirmation.CONFIRMED
        and bucket.comparison in {Comparison.NEW, Comparison.KNOWN}
        and rules.files(bucket)
    )


def _counts(member: GroupedBucket, rules: FilingRules) -> bool:
    if member.is_met or member.issue or member.left:
        return True
    is_open = member.after is not None and member.after.state is State.OPEN
    return is_open and rules.files(member.bucket)


def _parts(group: BucketGroup, rules: FilingRules) -> Iterable[tuple[str, BucketGroup]]:
    """Yield what of a group is filed, and what must not be published, each with its pile.

    Where the group has no issue yet, one member that this run met and that must not be published
    withholds all of it. Of those that it did not meet nobody knows.
    """
    hidden = tuple(m for m in group.members if not m.issue and rules.withholds(m.bucket))
    if not group.issues and any(m.is_met for m in hidden):
        hidden = group.members
    if any(m.is_met for m in hidden):
        yield "withheld", replace(group, members=hidden)
    public = replace(group, members=tuple(m for m in group.members if m not in hidden))
    pile = _pile(public)
    if pile:
        yield pile, public


def _pile(group: BucketGroup) -> str:
    """Return the field of `FilingPlan` that a group belongs to, caps aside; empty if none."""
    if not group.issues:
        is_new = any(m.bucket.comparison is Comparison.NEW or m.left for m in group.met)
        return "opened" if is_new else "listed" if any(m.is_open for m in group.members) else ""
    if not group.met:
        return _pile_of_unmet(group)
    if not any(m.was_filed for m in group.members):
        return "adopted"
    returns = any(m.is_back or m.has_joined for m in group.met)
    return "reopened" if returns and not group.was_there else "refreshed"


def _pile_of_unmet(group: BucketGroup) -> str:
    """Return the pile of a group with an issue that this run did not meet."""
    has_fixed = any(m.became_fixed for m in group.members)
    if group.is_over:
        # Nobody closes it when its last open member is accepted, between two runs.
        return "closed" if has_fixed or any(m.is_accepted for m in group.members) else ""
    return "ticked" if has_fixed else ""


def of_this_tracker(records: Records, rules: FilingRules) -> Records:
    """Return the baseline without the issues that are in a tracker of another kind."""
    if not rules.numbered:
        return records
    return {name: _numbered(record) for name, record in records.items()}


def _numbered(record: BaselineRecord) -> BaselineRecord:
    return record if record.issue.isdecimal() or not record.issue else replace(record, issue="")
