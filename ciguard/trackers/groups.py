"""Groups of buckets with one cause, from this run and from the baseline. A group has one issue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.baseline import State, bucket_of, current, records_by_any_name
from ciguard.domain.findings import Comparison
from ciguard.triage import cause_of, simplicity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.baseline import BaselineRecord, Records
    from ciguard.domain.findings import Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedBucket:
    """One bucket of a group."""

    bucket: Bucket
    """The bucket as this run saw it, else as the baseline records it."""
    before: BaselineRecord | None = None
    """Record of the bucket in the baseline before this run; None if the bucket was unknown."""
    after: BaselineRecord | None = None
    """Record of the bucket in the baseline after this run; None if it was not recorded."""
    former_issue: str = ""
    """Number of the issue that the bucket had with another cause; empty if there is none."""
    is_seen: bool = False
    """True if this run saw the bucket and the policy files it."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the bucket in the baseline, else in this run."""
        return self.after.fingerprint if self.after else self.bucket.fingerprint

    @property
    def names(self) -> tuple[str, ...]:
        """All fingerprints of the bucket, the current one first."""
        recorded = (self.after.fingerprint, *self.after.aliases) if self.after else ()
        return tuple(dict.fromkeys((*recorded, self.bucket.fingerprint, *self.bucket.aliases)))

    @property
    def issue(self) -> str:
        """Number of the bucket's issue in the baseline after this run; empty if there is none."""
        return self.after.issue if self.after else ""

    @property
    def was_filed(self) -> bool:
        """True if the bucket had an issue before this run."""
        return self.before is not None and bool(self.before.issue)

    @property
    def was_present(self) -> bool:
        """True if the bucket was open or accepted before this run."""
        return self.before is not None and self.before.state in {State.OPEN, State.ACCEPTED}

    @property
    def is_open(self) -> bool:
        """True if the bucket is open after this run: not fixed, accepted or flaky."""
        return self.after is None or self.after.state is State.OPEN

    @property
    def is_accepted(self) -> bool:
        """True if a person accepted the bucket."""
        return self.after is not None and self.after.state is State.ACCEPTED

    @property
    def is_fixed(self) -> bool:
        """True if the bucket is fixed after this run."""
        return self.after is not None and self.after.state is State.FIXED

    @property
    def became_fixed(self) -> bool:
        """True if the bucket is fixed after this run and was not fixed before."""
        was_fixed = self.before is not None and self.before.state is State.FIXED
        return self.is_fixed and not was_fixed

    @property
    def has_returned(self) -> bool:
        """True if the bucket was fixed before this run, and this run saw it again."""
        was_fixed = self.before is not None and self.before.state is State.FIXED
        return self.is_seen and was_fixed

    @property
    def needs_issue(self) -> bool:
        """True if this run saw the bucket, and it has no issue yet."""
        return self.is_seen and not self.issue


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketGroup:
    """Buckets with one cause."""

    name: str
    """Name of the cause; for a bucket whose cause has no name, its fingerprint."""
    members: tuple[GroupedBucket, ...]
    former_members: tuple[GroupedBucket, ...] = ()
    """Former members, which are now known to have another cause."""

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The current fingerprints of the members."""
        return tuple(member.fingerprint for member in self.members)

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which the group's issue may have been filed, the group's name first."""
        known = (name for member in self.members for name in member.names)
        return tuple(dict.fromkeys((self.name, *known)))

    @property
    def seen_members(self) -> tuple[GroupedBucket, ...]:
        """Members that this run saw and that the policy files."""
        return tuple(member for member in self.members if member.is_seen)

    @property
    def issues(self) -> tuple[str, ...]:
        """Numbers of the members' issues, sorted; several if groups with issues were merged."""
        return tuple(sorted({member.issue for member in self.members if member.issue}))

    @property
    def is_over(self) -> bool:
        """True if all members are fixed or accepted, and at least one is fixed."""
        states = [member for member in self.members if member.is_open or member.is_fixed]
        return bool(states) and all(member.is_fixed for member in states)

    @property
    def was_present(self) -> bool:
        """True if a member was open or accepted before this run."""
        return any(member.was_present for member in self.members)

    @property
    def has_returned(self) -> bool:
        """True if no member was open or accepted before this run, and a fixed member returned."""
        return not self.was_present and any(member.has_returned for member in self.members)

    @property
    def shown_member(self) -> GroupedBucket:
        """The member that the issue shows: the simplest case, if possible one that this run saw."""
        still_there = [member for member in self.members if member.is_open]
        candidates = self.seen_members or still_there or self.members
        return min(candidates, key=lambda member: simplicity(member.bucket.finding.case))


def groups_of(compared: Iterable[Bucket], *, before: Records, after: Records) -> list[BucketGroup]:
    """Return all buckets grouped by cause: first the groups of this run, in the run's order.

    The cause of a recorded bucket is computed from its record. The record has the simplest case of
    all runs, so that the group does not depend on the case of this run.

    Args:
        compared: the buckets of this run after the comparison with `before`.
        before: the records of the baseline before the run.
        after: the records of the baseline after the run.
    """
    old_records, new_records = records_by_any_name(before), records_by_any_name(after)
    members: dict[str, list[GroupedBucket]] = {}
    in_run: set[str] = set()
    for bucket in compared:
        names = (bucket.fingerprint, *bucket.aliases)
        record = _first(new_records, names)
        if record is not None:
            in_run.add(record.fingerprint)
        old_record = _first(old_records, names)
        _add(members, GroupedBucket(bucket=bucket, before=old_record, after=record))
    for record in sorted(current(after).values(), key=lambda record: record.fingerprint):
        if record.fingerprint not in in_run and _needs_issue(record):
            old_record = _first(old_records, (record.fingerprint, *record.aliases))
            bucket = bucket_of(record, Comparison.NOT_RUN)
            _add(members, GroupedBucket(bucket=bucket, before=old_record, after=record))
    return [BucketGroup(name=name, members=tuple(group)) for name, group in members.items()]


def _add(members: dict[str, list[GroupedBucket]], member: GroupedBucket) -> None:
    recorded = member.after and bucket_of(member.after, member.bucket.comparison)
    cause = cause_of(recorded or member.bucket)
    # A record written by an older version may have another fingerprint than its bucket.
    is_shared = cause.name != (recorded or member.bucket).fingerprint
    shown = replace(member, bucket=replace(member.bucket, cause=cause if is_shared else None))
    members.setdefault(cause.name if is_shared else member.fingerprint, []).append(shown)


def _needs_issue(record: BaselineRecord) -> bool:
    return record.state is State.OPEN or (record.state is not State.FLAKY and bool(record.issue))


def _first(by_name: Mapping[str, BaselineRecord], names: Iterable[str]) -> BaselineRecord | None:
    return next((by_name[name] for name in names if name in by_name), None)


def shared_issues(groups: Iterable[BucketGroup]) -> dict[str, list[BucketGroup]]:
    """Return the groups that share an issue, by the number of the issue.

    Groups share an issue if they were one group before.
    """
    by_issue: dict[str, list[BucketGroup]] = {}
    for group in groups:
        for issue in group.issues:
            by_issue.setdefault(issue, []).append(group)
    return {issue: sharing for issue, sharing in by_issue.items() if len(sharing) > 1}


def keeper(sharing: Iterable[BucketGroup]) -> BucketGroup:
    """Return the group that keeps a shared issue if the group in its marker no longer exists."""
    return min(sharing, key=lambda group: min(group.fingerprints))


def groups_with_issues(
    groups: Iterable[BucketGroup], issues: Mapping[str, str]
) -> list[BucketGroup]:
    """Return the groups with issue numbers set in the records of their members.

    Args:
        groups: the groups.
        issues: the number of each issue, by the fingerprint of a member.
    """
    return [
        replace(
            group,
            members=tuple(
                replace(member, after=replace(member.after, issue=issues[member.fingerprint]))
                if member.after and member.fingerprint in issues
                else member
                for member in group.members
            ),
        )
        for group in groups
    ]


def with_owner(groups: Iterable[BucketGroup], issue: str, owner: BucketGroup) -> list[BucketGroup]:
    """Return the groups after a shared issue was assigned to one of them.

    Args:
        groups: the groups, as `groups_of` returns them.
        issue: the number of the issue that several groups share.
        owner: the group that keeps the issue.
    """
    split = [
        replace(group, members=tuple(_without_issue(member, issue) for member in group.members))
        if group.name != owner.name
        else group
        for group in groups
    ]
    former_members = tuple(
        member for group in split for member in group.members if member.former_issue == issue
    )
    return [
        replace(g, former_members=(*g.former_members, *former_members))
        if g.name == owner.name
        else g
        for g in split
    ]


def _without_issue(member: GroupedBucket, issue: str) -> GroupedBucket:
    """Return the member with `issue` as its former issue, if it had that issue."""
    if member.issue != issue:
        return member
    before, after = (
        record and replace(record, issue="") for record in (member.before, member.after)
    )
    return replace(member, before=before, after=after, former_issue=issue)
