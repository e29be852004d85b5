"""Groups: the buckets of this run and of the baseline with one cause, which have one issue."""

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
    """The bucket as this run met it, else as the baseline records it."""
    before: BaselineRecord | None = None
    """Its record in the baseline before this run; None if it was unknown."""
    after: BaselineRecord | None = None
    """Its record in the baseline after this run; None if it was not recorded."""
    former_issue: str = ""
    """Number of its former issue, before it got another cause; empty if there is none."""
    is_met: bool = False
    """True if this run met it and the policy files it."""

    @property
    def fingerprint(self) -> str:
        """Its fingerprint in the baseline."""
        return self.after.fingerprint if self.after else self.bucket.fingerprint

    @property
    def names(self) -> tuple[str, ...]:
        """All fingerprints of the bucket, the current one first."""
        recorded = (self.after.fingerprint, *self.after.aliases) if self.after else ()
        return tuple(dict.fromkeys((*recorded, self.bucket.fingerprint, *self.bucket.aliases)))

    @property
    def issue(self) -> str:
        """Its issue in the baseline after this run; empty if there is none."""
        return self.after.issue if self.after else ""

    @property
    def was_filed(self) -> bool:
        """True if it had an issue before this run."""
        return self.before is not None and bool(self.before.issue)

    @property
    def was_there(self) -> bool:
        """True if it was known and not fixed before this run."""
        return self.before is not None and self.before.state in {State.OPEN, State.ACCEPTED}

    @property
    def is_open(self) -> bool:
        """True if it is open: not fixed, accepted or flaky."""
        return self.after is None or self.after.state is State.OPEN

    @property
    def is_accepted(self) -> bool:
        """True if a person accepted it."""
        return self.after is not None and self.after.state is State.ACCEPTED

    @property
    def is_fixed(self) -> bool:
        """True if it is fixed after this run."""
        return self.after is not None and self.after.state is State.FIXED

    @property
    def became_fixed(self) -> bool:
        """True if it became fixed by this run."""
        was_fixed = self.before is not None and self.before.state is State.FIXED
        return self.is_fixed and not was_fixed

    @property
    def is_back(self) -> bool:
        """True if it was fixed and this run met it again."""
        was_fixed = self.before is not None and self.before.state is State.FIXED
        return self.is_met and was_fixed

    @property
    def has_joined(self) -> bool:
        """True if this run met it and it has no issue yet."""
        return self.is_met and not self.issue


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketGroup:
    """Buckets with one cause."""

    name: str
    """Name of the cause; the fingerprint of a bucket that shares its cause with no other."""
    members: tuple[GroupedBucket, ...]
    lost: tuple[GroupedBucket, ...] = ()
    """Former members that are now known to have another cause."""

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The current fingerprints of the members."""
        return tuple(member.fingerprint for member in self.members)

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which the group's issue may have been filed, its own first."""
        known = (name for member in self.members for name in member.names)
        return tuple(dict.fromkeys((self.name, *known)))

    @property
    def met(self) -> tuple[GroupedBucket, ...]:
        """Members that this run met."""
        return tuple(member for member in self.members if member.is_met)

    @property
    def issues(self) -> tuple[str, ...]:
        """Issues of the members; more than one if several groups became one."""
        return tuple(sorted({member.issue for member in self.members if member.issue}))

    @property
    def is_over(self) -> bool:
        """True if all members are fixed or accepted, and at least one is fixed."""
        states = [member for member in self.members if member.is_open or member.is_fixed]
        return bool(states) and all(member.is_fixed for member in states)

    @property
    def was_there(self) -> bool:
        """True if a member was known and not fixed before this run."""
        return any(member.was_there for member in self.members)

    @property
    def is_back(self) -> bool:
        """True if all members were fixed and this run met one again."""
        return not self.was_there and any(member.is_back for member in self.members)

    @property
    def shown(self) -> GroupedBucket:
        """The member with the simplest case, preferably among those that this run met."""
        still_there = [member for member in self.members if member.is_open]
        candidates = self.met or still_there or self.members
        return min(candidates, key=lambda member: simplicity(member.bucket.finding.case))


def groups_of(compared: Iterable[Bucket], *, before: Records, after: Records) -> list[BucketGroup]:
    """Return all buckets grouped by cause: groups that this run met first, in its order.

    A recorded bucket has the cause of its record. The record has the simplest case of all runs, so
    that the group does not depend on the case of this run.

    Args:
        compared: the buckets of this run, compared with `before`.
        before: the records of the baseline before the run.
        after: the records of the baseline after the run.
    """
    earlier, now = records_by_any_name(before), records_by_any_name(after)
    members: dict[str, list[GroupedBucket]] = {}
    met: set[str] = set()
    for bucket in compared:
        names = (bucket.fingerprint, *bucket.aliases)
        record = _first(now, names)
        if record is not None:
            met.add(record.fingerprint)
        _add(members, GroupedBucket(bucket=bucket, before=_first(earlier, names), after=record))
    for record in sorted(current(after).values(), key=lambda record: record.fingerprint):
        if record.fingerprint not in met and _needs_issue(record):
            known = _first(earlier, (record.fingerprint, *record.aliases))
            unmet = bucket_of(record, Comparison.NOT_RUN)
            _add(members, GroupedBucket(bucket=unmet, before=known, after=record))
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
    """Return the issues that several groups share, because they were one group before."""
    by_issue: dict[str, list[BucketGroup]] = {}
    for group in groups:
        for issue in group.issues:
            by_issue.setdefault(issue, []).append(group)
    return {issue: sharing for issue, sharing in by_issue.items() if len(sharing) > 1}


def keeper(sharing: Iterable[BucketGroup]) -> BucketGroup:
    """Return the group that keeps a shared issue whose own group no longer exists."""
    return min(sharing, key=lambda group: min(group.fingerprints))


def with_noted(groups: Iterable[BucketGroup], issues: Mapping[str, str]) -> list[BucketGroup]:
    """Return the groups with the given issues, by fingerprint, set in their records."""
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
    """Return the groups after a shared issue was given to one of them.

    Args:
        groups: the groups, as `groups_of` returns them.
        issue: the issue that several groups share.
        owner: the group that keeps it.
    """
    split = [
        replace(group, members=tuple(_without(member, issue) for member in group.members))
        if group.name != owner.name
        else group
        for group in groups
    ]
    lost = tuple(
        member for group in split for member in group.members if member.former_issue == issue
    )
    return [replace(g, lost=(*g.lost, *lost)) if g.name == owner.name else g for g in split]


def _without(member: GroupedBucket, issue: str) -> GroupedBucket:
    if member.issue != issue:
        return member
    before, after = (
        record and replace(record, issue="") for record in (member.before, member.after)
    )
    return replace(member, before=before, after=after, former_issue=issue)
