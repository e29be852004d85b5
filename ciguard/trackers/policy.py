"""The filing policy, which decides which groups are filed, reopened, closed or only listed."""

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
    """The project's rules for filing issues."""

    cap: int = 5
    """Maximum number of issues that one run opens; the roll-up issue lists further groups."""
    per_day: int = 20
    """Maximum number of issues that all runs within 24 hours open."""
    policy: Policy = field(default_factory=Policy)
    """Policy that decides which findings are filed."""
    file_first_run: bool = False
    """True if the run that establishes the baseline also files issues, up to the cap."""
    numbered: bool = False
    """True if the tracker numbers its issues. Issues without a number in the baseline are then
    ignored, because they belong to another tracker."""
    withholds_security: bool = False
    """True if security-relevant crashes are not filed in the tracker, because it is public. The
    policy can allow their class."""
    discloser: Discloser | None = None
    """Private place for withheld crashes; None to file them nowhere."""

    def withholds(self, bucket: Bucket) -> bool:
        """Return whether a bucket must not be filed in public."""
        if not self.withholds_security or self.policy.files_security:
            return False
        return _may_corrupt(bucket)

    def files(self, bucket: Bucket) -> bool:
        """Return whether the policy files an issue for the bucket."""
        return self.policy.action(bucket.finding) >= Action.FILE


def _may_corrupt(bucket: Bucket) -> bool:
    """Return whether a crash corrupts memory, or may do so on a target without stored outcomes."""
    finding = bucket.finding
    if finding.outcomes or not traits_of(finding.oracle).is_crash:
        return class_of(finding) is FindingClass.SECURITY
    return True  # the baseline stores no outcomes, so the crash may corrupt memory on a target


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingPlan:
    """The groups of a run, by the action in the tracker."""

    opened: tuple[BucketGroup, ...] = ()
    """Groups that get a new issue."""
    reopened: tuple[BucketGroup, ...] = ()
    """Groups that were fixed and have returned."""
    adopted: tuple[BucketGroup, ...] = ()
    """Groups with an issue that the baseline does not record."""
    refreshed: tuple[BucketGroup, ...] = ()
    """Known groups with an issue, whose text may need an update."""
    partly_fixed: tuple[BucketGroup, ...] = ()
    """Groups that this run did not see, with some fixed and some open members."""
    closed: tuple[BucketGroup, ...] = ()
    """Groups whose members are all fixed or accepted."""
    listed: tuple[BucketGroup, ...] = ()
    """Groups without an issue of their own."""
    withheld: tuple[BucketGroup, ...] = ()
    """Groups with security-relevant crashes, which must not be filed in public."""


def plan(
    groups: Iterable[BucketGroup], *, rules: FilingRules, establishes: bool = False
) -> FilingPlan:
    """Return the groups that a run of the default branch files, by the action in the tracker.

    Args:
        groups: the groups of this run and of the baseline, with the issues in the tracker.
        rules: the project's rules for filing.
        establishes: whether there was no baseline before this run.
    """
    cap = rules.cap if rules.file_first_run or not establishes else 0
    fields: dict[str, list[BucketGroup]] = {name: [] for name in _FIELDS}
    for group in groups:
        for name, part in _parts(_relevant(group, rules), rules):
            is_full = name == "opened" and len(fields[name]) >= cap
            fields["listed" if is_full else name].append(part)
    return FilingPlan(**{name: tuple(members) for name, members in fields.items()})


_FIELDS = (
    "opened",
    "reopened",
    "adopted",
    "refreshed",
    "partly_fixed",
    "closed",
    "listed",
    "withheld",
)


def _relevant(group: BucketGroup, rules: FilingRules) -> BucketGroup:
    """Return the group with only those members that its issue shows, showed or has to show."""
    marked = (replace(m, is_seen=_is_seen(m.bucket, rules)) for m in group.members)
    return replace(group, members=tuple(m for m in marked if _is_relevant(m, rules)))


def _is_seen(bucket: Bucket, rules: FilingRules) -> bool:
    return (
        bucket.confirmation is Confirmation.CONFIRMED
        and bucket.comparison in {Comparison.NEW, Comparison.KNOWN}
        and rules.files(bucket)
    )


def _is_relevant(member: GroupedBucket, rules: FilingRules) -> bool:
    if member.is_seen or member.issue or member.former_issue:
        return True
    is_open = member.after is not None and member.after.state is State.OPEN
    return is_open and rules.files(member.bucket)


def _parts(group: BucketGroup, rules: FilingRules) -> Iterable[tuple[str, BucketGroup]]:
    """Yield the public and the withheld part of a group, each with a field of `FilingPlan`.

    If the group has no issue yet, and one member of this run must not be public, the whole group is
    withheld.
    """
    withheld = tuple(m for m in group.members if not m.issue and rules.withholds(m.bucket))
    if not group.issues and any(m.is_seen for m in withheld):
        withheld = group.members
    if any(m.is_seen for m in withheld):
        yield "withheld", replace(group, members=withheld)
    public = replace(group, members=tuple(m for m in group.members if m not in withheld))
    name = _field(public)
    if name:
        yield name, public


def _field(group: BucketGroup) -> str:
    """Return the field of `FilingPlan` for a group without regard to limits; empty for none."""
    if not group.issues:
        is_new = any(
            m.bucket.comparison is Comparison.NEW or m.former_issue for m in group.seen_members
        )
        return "opened" if is_new else "listed" if any(m.is_open for m in group.members) else ""
    if not group.seen_members:
        return _field_of_unseen(group)
    if not any(m.was_filed for m in group.members):
        return "adopted"
    has_returned = any(m.has_returned or m.needs_issue for m in group.seen_members)
    return "reopened" if has_returned and not group.was_present else "refreshed"


def _field_of_unseen(group: BucketGroup) -> str:
    """Return the field for a group that has an issue and that this run did not see."""
    has_fixed = any(m.became_fixed for m in group.members)
    if group.is_over:
        # `ciguard accept` of the last open member does not close the issue; the next run does.
        return "closed" if has_fixed or any(m.is_accepted for m in group.members) else ""
    return "partly_fixed" if has_fixed else ""


def of_this_tracker(records: Records, rules: FilingRules) -> Records:
    """Return the baseline's records without issues of another tracker."""
    if not rules.numbered:
        return records
    return {name: _numbered(record) for name, record in records.items()}


def _numbered(record: BaselineRecord) -> BaselineRecord:
    return record if record.issue.isdecimal() or not record.issue else replace(record, issue="")
