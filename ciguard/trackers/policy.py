"""The filing policy: which groups are filed, reopened, closed or only listed."""

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
    """The project's rules for its tracker."""

    cap: int = 5
    """Limit on the issues that one run opens; further groups go on the list."""
    per_day: int = 20
    """Limit on the issues that all runs within 24 hours open."""
    policy: Policy = field(default_factory=Policy)
    """Policy that decides which findings are filed."""
    file_first_run: bool = False
    """True to file findings of the run that establishes the baseline too, up to the cap."""
    numbered: bool = False
    """True if the tracker numbers its issues; other issues in the baseline are ignored."""
    withholds_security: bool = False
    """True if the tracker is public: security-relevant crashes are then reported but not filed,
    unless the policy names their class."""
    discloser: Discloser | None = None
    """Private place for such crashes; None files them nowhere."""

    def withholds(self, bucket: Bucket) -> bool:
        """Return whether a bucket must not be filed in public."""
        if not self.withholds_security or self.policy.files_security:
            return False
        return _may_corrupt(bucket)

    def files(self, bucket: Bucket) -> bool:
        """Return whether the policy files an issue about such a bucket."""
        return self.policy.action(bucket.finding) >= Action.FILE


def _may_corrupt(bucket: Bucket) -> bool:
    """Return whether a crash is security-relevant, or may be one on an unrecorded target."""
    finding = bucket.finding
    if finding.outcomes or not traits_of(finding.oracle).is_crash:
        return class_of(finding) is FindingClass.SECURITY
    return True  # the baseline stores no outcomes: it may corrupt memory on another target


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingPlan:
    """The groups to file, by what is done in the tracker."""

    opened: tuple[BucketGroup, ...] = ()
    """Groups that get a new issue."""
    reopened: tuple[BucketGroup, ...] = ()
    """Groups that were fixed and have returned."""
    adopted: tuple[BucketGroup, ...] = ()
    """Groups with an issue that the baseline does not record."""
    refreshed: tuple[BucketGroup, ...] = ()
    """Known groups with an issue, whose text may need an update."""
    partly_fixed: tuple[BucketGroup, ...] = ()
    """Groups that this run did not meet and of which some, but not all, members became fixed."""
    closed: tuple[BucketGroup, ...] = ()
    """Groups whose members are all fixed or accepted."""
    listed: tuple[BucketGroup, ...] = ()
    """Groups without an issue of their own."""
    withheld: tuple[BucketGroup, ...] = ()
    """Groups with security-relevant crashes, which must not be public."""


def plan(
    groups: Iterable[BucketGroup], *, rules: FilingRules, establishes: bool = False
) -> FilingPlan:
    """Return what a run of the default branch files.

    Args:
        groups: the groups of this run and of the baseline, with the issues in the tracker.
        rules: the rules of the project.
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
    """Return the group with only those members that its issue is or was about."""
    marked = (replace(m, is_met=_is_met(m.bucket, rules)) for m in group.members)
    return replace(group, members=tuple(m for m in marked if _is_relevant(m, rules)))


def _is_met(bucket: Bucket, rules: FilingRules) -> bool:
    return (
        bucket.confirmation is Confirmation.CONFIRMED
        and bucket.comparison in {Comparison.NEW, Comparison.KNOWN}
        and rules.files(bucket)
    )


def _is_relevant(member: GroupedBucket, rules: FilingRules) -> bool:
    if member.is_met or member.issue or member.former_issue:
        return True
    is_open = member.after is not None and member.after.state is State.OPEN
    return is_open and rules.files(member.bucket)


def _parts(group: BucketGroup, rules: FilingRules) -> Iterable[tuple[str, BucketGroup]]:
    """Yield the public and the withheld part of a group, each with its field of `FilingPlan`.

    If the group has no issue yet, one met member that must not be public withholds all of it.
    """
    withheld = tuple(m for m in group.members if not m.issue and rules.withholds(m.bucket))
    if not group.issues and any(m.is_met for m in withheld):
        withheld = group.members
    if any(m.is_met for m in withheld):
        yield "withheld", replace(group, members=withheld)
    public = replace(group, members=tuple(m for m in group.members if m not in withheld))
    name = _field(public)
    if name:
        yield name, public


def _field(group: BucketGroup) -> str:
    """Return the field of `FilingPlan` for a group, regardless of caps; empty for none."""
    if not group.issues:
        is_new = any(m.bucket.comparison is Comparison.NEW or m.former_issue for m in group.met)
        return "opened" if is_new else "listed" if any(m.is_open for m in group.members) else ""
    if not group.met:
        return _field_of_unmet(group)
    if not any(m.was_filed for m in group.members):
        return "adopted"
    has_returned = any(m.is_back or m.has_joined for m in group.met)
    return "reopened" if has_returned and not group.was_there else "refreshed"


def _field_of_unmet(group: BucketGroup) -> str:
    """Return the field for a group with an issue that this run did not meet."""
    has_fixed = any(m.became_fixed for m in group.members)
    if group.is_over:
        # Accepting the last open member, between two runs, does not close the issue.
        return "closed" if has_fixed or any(m.is_accepted for m in group.members) else ""
    return "partly_fixed" if has_fixed else ""


def of_this_tracker(records: Records, rules: FilingRules) -> Records:
    """Return the baseline's records without issues of another kind of tracker."""
    if not rules.numbered:
        return records
    return {name: _numbered(record) for name, record in records.items()}


def _numbered(record: BaselineRecord) -> BaselineRecord:
    return record if record.issue.isdecimal() or not record.issue else replace(record, issue="")
