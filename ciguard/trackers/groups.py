"""Groups: buckets with one cause, of this run and of the baseline. Each group has one issue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.baseline import State, bucket_of, by_any_name, current
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
    """As this run met it, else as the baseline records it."""
    before: BaselineRecord | None = None
    """What the baseline knew before this run."""
    after: BaselineRecord | None = None
    """What it knows now."""
    left: str = ""
    """Number of the issue that it was part of while its cause was taken for another one."""
    is_met: bool = False
    """This run met it, and the policy files it."""

    @property
    def fingerprint(self) -> str:
        """The name under which the baseline has it."""
        return self.after.fingerprint if self.after else self.bucket.fingerprint

    @property
    def names(self) -> tuple[str, ...]:
        """Every fingerprint of the bucket, the current one first."""
        recorded = (self.after.fingerprint, *self.after.aliases) if self.after else ()
        return tuple(dict.fromkeys((*recorded, self.bucket.fingerprint, *self.bucket.aliases)))

    @property
    def issue(self) -> str:
        """The issue that the baseline knows by now."""
        return self.after.issue if self.after else ""

    @property
    def was_filed(self) -> bool:
        """Whether it had an issue before this run."""
        return self.before is not None and bool(self.before.issue)

    @property
    def was_there(self) -> bool:
        """Whether it was known before this run and not fixed."""
        return self.before is not None and self.before.state in {State.OPEN, State.ACCEPTED}

    @property
    def is_open(self) -> bool:
        """Whether it counts: it is neither fixed nor accepted."""
        return self.after is None or self.after.state is State.OPEN

    @property
    def is_accepted(self) -> bool:
        """Whether somebody has accepted it."""
        return self.after is not None and self.after.state is State.ACCEPTED

    @property
    def is_fixed(self) -> bool:
        """Whether it is fixed by now."""
        return self.after is not None and self.after.state is State.FIXED

    @property
    def became_fixed(self) -> bool:
        """Whether this run was the last that it took to be fixed."""
        was_fixed = self.before is not None and self.before.state is State.FIXED
        return self.is_fixed and not was_fixed

    @property
    def is_back(self) -> bool:
        """Whether it had been fixed and this run met it."""
        was_fixed = self.before is not None and self.before.state is State.FIXED
        return self.is_met and was_fixed

    @property
    def has_joined(self) -> bool:
        """Whether no issue is noted for it, although this run met it."""
        return self.is_met and not self.issue


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketGroup:
    """Buckets with one cause."""

    name: str
    """Of the cause; the fingerprint of a bucket that shares its cause with no other."""
    members: tuple[GroupedBucket, ...]
    lost: tuple[GroupedBucket, ...] = ()
    """Those that were part of its issue while their cause was taken for this one."""

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The current fingerprints of the members."""
        return tuple(member.fingerprint for member in self.members)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which the group's issue may have been filed, its own first."""
        known = (name for member in self.members for name in member.names)
        return tuple(dict.fromkeys((self.name, *known)))

    @property
    def met(self) -> tuple[GroupedBucket, ...]:
        """Those that this run met."""
        return tuple(member for member in self.members if member.is_met)

    @property
    def issues(self) -> tuple[str, ...]:
        """The issues that the baseline knows by now; more than one where groups became one."""
        return tuple(sorted({member.issue for member in self.members if member.issue}))

    @property
    def is_over(self) -> bool:
        """Whether every member that counts is fixed."""
        states = [member for member in self.members if member.is_open or member.is_fixed]
        return bool(states) and all(member.is_fixed for member in states)

    @property
    def was_there(self) -> bool:
        """Whether a member was known before this run and not fixed."""
        return any(member.was_there for member in self.members)

    @property
    def is_back(self) -> bool:
        """Whether all of it had been fixed, and this run met some of it."""
        return not self.was_there and any(member.is_back for member in self.members)

    @property
    def shown(self) -> GroupedBucket:
        """The member with the plainest case, of those that this run met if it met any."""
        still_there = [member for member in self.members if member.is_open]
        candidates = self.met or still_there or self.members
        return min(candidates, key=lambda member: simplicity(member.bucket.finding.case))


def groups_of(compared: Iterable[Bucket], *, before: Records, after: Records) -> list[BucketGroup]:
    """Return all buckets by cause: groups that this run met in its order, then the others.

    The cause is that of the record, where there is one: it shows the plainest case of all runs, so
    that the group does not depend on the case that this run happened to meet.

    Args:
        compared: this run's buckets, compared with `before`.
        before: the baseline before the run.
        after: the baseline after the run.
    """
    earlier, now = by_any_name(before), by_any_name(after)
    members: dict[str, list[GroupedBucket]] = {}
    met: set[str] = set()
    for bucket in compared:
        names = (bucket.fingerprint, *bucket.aliases)
        record = _first(now, names)
        if record is not None:
            met.add(record.fingerprint)
        _add(members, GroupedBucket(bucket=bucket, before=_first(earlier, names), after=record))
    for record in sorted(current(after).values(), key=lambda record: record.fingerprint):
        if record.fingerprint not in met and _may_count(record):
            known = _first(earlier, (record.fingerprint, *record.aliases))
            unmet = bucket_of(record, Comparison.NOT_RUN)
            _add(members, GroupedBucket(bucket=unmet, before=known, after=record))
    return [BucketGroup(name=name, members=tuple(those)) for name, those in members.items()]


def _add(members: dict[str, list[GroupedBucket]], member: GroupedBucket) -> None:
    recorded = member.after and bucket_of(member.after, member.bucket.comparison)
    cause = cause_of(recorded or member.bucket)
    # A record of an older recipe may have another name than the bucket that it stands for.
    is_shared = cause.name != (recorded or member.bucket).fingerprint
    shown = replace(member, bucket=replace(member.bucket, cause=cause if is_shared else None))
    members.setdefault(cause.name if is_shared else member.fingerprint, []).append(shown)


def _may_count(record: BaselineRecord) -> bool:
    return record.state is State.OPEN or (record.state is not State.FLAKY and bool(record.issue))


def _first(by_name: Mapping[str, BaselineRecord], names: Iterable[str]) -> BaselineRecord | None:
    return next((by_name[name] for name in names if name in by_name), None)


def shared_issues(groups: Iterable[BucketGroup]) -> dict[str, list[BucketGroup]]:
    """Return the issues that are noted for members of several groups: those groups were one."""
    noted: dict[str, list[BucketGroup]] = {}
    for group in groups:
        for issue in group.issues:
            noted.setdefault(issue, []).append(group)
    return {issue: sharing for issue, sharing in noted.items() if len(sharing) > 1}


def keeper(sharing: Iterable[BucketGroup]) -> BucketGroup:
    """Return the group that keeps an issue which is about none of those that share it any more."""
    return min(sharing, key=lambda group: min(group.fingerprints))


def with_noted(groups: Iterable[BucketGroup], issues: Mapping[str, str]) -> list[BucketGroup]:
    """Return the groups with issues that the baseline does not know, by fingerprint."""
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
    """Return the groups after one of several that were one has kept their issue.

    Args:
        groups: as `groups_of` returns them.
        issue: noted for members of several groups.
        owner: the group that keeps it.
    """
    parted = [
        replace(group, members=tuple(_without(member, issue) for member in group.members))
        if group.name != owner.name
        else group
        for group in groups
    ]
    lost = tuple(member for group in parted for member in group.members if member.left == issue)
    return [replace(g, lost=(*g.lost, *lost)) if g.name == owner.name else g for g in parted]


def _without(member: GroupedBucket, issue: str) -> GroupedBucket:
    if member.issue != issue:
        return member
    before, after = (
        record and replace(record, issue="") for record in (member.before, member.after)
    )
    return replace(member, before=before, after=after, left=issue)
