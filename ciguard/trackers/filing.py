"""The listener that files what a run found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ciguard.baseline import merge_records, with_issues
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Comparison, Confirmation, Verdict
from ciguard.domain.text import visible
from ciguard.errors import TrackerError, TrackerUnavailableError
from ciguard.trackers.authoring import Author, IssueSources
from ciguard.trackers.contract import ROLL_UP
from ciguard.trackers.disclosure import (
    disclosed,
    is_security_relevant,
    withheld,
    write_upstream_reports,
)
from ciguard.trackers.groups import groups_of, keeper, shared_issues, with_noted, with_owner
from ciguard.trackers.policy import of_this_tracker, plan
from ciguard.trackers.tasks import File, Refresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ciguard.baseline import BaselineStore, Records
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket
    from ciguard.trackers.contract import Issue
    from ciguard.trackers.desk import Desk
    from ciguard.trackers.disclosure import SecurityCrash
    from ciguard.trackers.groups import BucketGroup, GroupedBucket
    from ciguard.trackers.policy import FilingPlan, FilingRules
    from ciguard.trackers.tasks import Task

_CONCLUSIVE = frozenset({Verdict.ESTABLISHED, Verdict.CLEAN, Verdict.NEW_FINDINGS})
_MET = frozenset({Comparison.NEW, Comparison.KNOWN})
_MAX_NAMED = 5
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a run has found."""

    verdict: Verdict
    buckets: tuple[Bucket, ...]
    versions: Mapping[str, str]


class Filing:
    """Files what a run found, once the run is over and the baseline knows it."""

    def __init__(
        self, desk: Desk, store: BaselineStore, *, rules: FilingRules, sources: IssueSources
    ) -> None:
        """Read the baseline as it is before the run.

        Args:
            desk: does what is decided here.
            store: the baseline; remembers which bucket has which issue.
            rules: what the project wants.
            sources: where texts come from.

        Raises:
            BaselineError: if the baseline cannot be read.
        """
        self._desk = desk
        self._store = store
        self._rules = rules
        self._sources = sources
        self._discloser = rules.discloser
        self._crashes: list[SecurityCrash] = []
        self._before: Records = self._load() if store.exists() else {}
        self._granted: int | None = None
        """How many issues this run may open, once its tasks are in the outbox."""
        self._corrected: dict[str, str] = {}
        """Issue by fingerprint, where the tracker knows better; empty for none."""
        self._is_answered = True
        """Whether the tracker has answered so far: it is not asked again in vain."""
        self._failure: Exception | None = None

    def intend(
        self, verdict: Verdict, buckets: tuple[Bucket, ...], versions: Mapping[str, str]
    ) -> Callable[[Path, Records], None]:
        """Prepare to put what is to be done into the outbox when the baseline is written.

        What was found and what is to be done about it are then one change. A failure here does not
        hinder the baseline: `receive` raises it.

        Args:
            verdict: of the run that is about to be remembered.
            buckets: as `RunFinished.buckets`.
            versions: of the library, by target.

        Returns:
            What writes into the baseline's folder, given the records that will be stored there.
        """
        found = _Found(verdict, buckets, versions)
        room = None if self._desk.is_dry else self._attempt(self._room)

        def put(folder: Path, after: Records) -> None:
            if room is None:
                return
            known = of_this_tracker(after, self._rules)
            self._granted = self._attempt(lambda: self._put(folder, found, known, room))

        return put

    def receive(self, event: Event) -> None:
        """File when the run is over; an interrupted or failed run proves nothing and files nothing.

        Raises:
            CiguardError: if the tracker refuses, or outbox or baseline cannot be written. A
                tracker that does not answer is no error: what was not filed waits in the outbox.
        """
        if isinstance(event, RunFinished) and event.verdict in _CONCLUSIVE:
            if self._failure is not None:
                raise self._failure
            self._file(event)

    def close(self) -> None:
        """Nothing to release."""

    def _load(self) -> Records:
        return of_this_tracker(self._store.load(), self._rules)

    def _attempt(self, act: Callable[[], int]) -> int | None:
        self._failure = None
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - a reporter's failure must not hinder the run
            self._failure = error
            return None

    def _put(self, folder: Path, found: _Found, after: Records, room: int) -> int:
        self._desk.put(folder, self._tasks(found, after, room))
        return room

    def _tasks(self, found: _Found, after: Records, room: int) -> list[Task]:
        """Return what is to be done about a run's groups, beside what waits already."""
        groups = self._groups(found.buckets, after)
        waiting = self._desk.waiting(with_issues(after, self._corrected))
        promised = [t for t in waiting if isinstance(t, File) and t.fingerprint != ROLL_UP]
        names = {name for task in promised for name in task.names}
        chosen = plan(
            [group for group in groups if names.isdisjoint(group.names)],
            rules=replace(self._rules, cap=max(0, room - len(promised))),
            establishes=found.verdict is Verdict.ESTABLISHED,
        )
        chosen = replace(chosen, closed=tuple(filter(self._closes, chosen.closed)))
        self._warn_of_gone(chosen)
        announced = {name for task in waiting if isinstance(task, Refresh) for name in task.names}
        author = Author(found.versions, self._sources, announced=announced)
        self._prepare_disclosure(groups, chosen, author)
        return author.tasks(chosen)

    def _prepare_disclosure(
        self, groups: list[BucketGroup], chosen: FilingPlan, author: Author
    ) -> None:
        """Write what a person may send upstream, and keep what is to be filed in private."""
        hidden = {group.name: group for group in chosen.withheld}
        grave = (hidden.get(group.name, group) for group in map(_met_of, groups) if group)
        crashes = {group.name: author.crash(group) for group in grave if _is_grave(group)}
        write_upstream_reports(self._sources.out, crashes.values())
        self._crashes = [crashes[name] for name in hidden if name in crashes]
        if chosen.withheld and (self._discloser is None or self._desk.is_dry):
            self._desk.says.append(withheld(len(chosen.withheld)))

    def _file(self, event: RunFinished) -> None:
        after = self._load()
        room = self._granted
        tasks: list[Task] = []
        if room is None:  # nobody has asked what it intends
            versions = {target.name: target.version for target in event.targets}
            room = self._room()
            tasks = self._tasks(_Found(event.verdict, event.buckets, versions), after, room)
        issues = self._desk.work(tasks, with_issues(after, self._corrected), room=room)
        self._desk.settle(change=lambda stored: _noted(stored, after, issues))
        refusal = self._desk.refusal
        try:
            self._disclose()
        except TrackerError as error:
            if refusal is None:
                raise
            self._desk.says.append(visible(str(error)))
        if refusal is not None:
            raise refusal

    def _disclose(self) -> None:
        """File in private. The baseline, which others may read, does not know of it.

        What fails is done by the next run that meets the crash.
        """
        places: list[str] = []
        try:
            for place in self._disclosed():
                places.append(place)  # noqa: PERF402 - what was filed is said after a failure too
        except TrackerUnavailableError as error:
            self._desk.says.append(str(error))
        finally:
            if places:
                self._desk.says.append(disclosed(places))

    def _disclosed(self) -> Iterator[str]:
        """File one crash after the other, and yield where each is."""
        room = self._rules.cap
        if self._discloser is None or self._desk.is_dry:
            return
        for crash in self._crashes:
            filed = self._discloser.disclose(crash, creates=room > 0)
            if filed is not None:
                room -= filed.is_new
                yield filed.place

    def _groups(self, buckets: tuple[Bucket, ...], after: Records) -> list[BucketGroup]:
        """Return all groups, with what the tracker knows better of their issues."""
        groups = groups_of(buckets, before=self._before, after=after)
        groups = self._parted(groups, after)
        left = {m.fingerprint: "" for group in groups for m in group.members if m.left}
        self._desk.remember(with_issues(after, left))
        adopted = self._adopted(groups)
        self._corrected = left | adopted
        return with_noted(groups, adopted)

    def _parted(self, groups: list[BucketGroup], after: Records) -> list[BucketGroup]:
        """Leave an issue that several groups have to one of them.

        A member whose cause is known better now belongs to another group than before. The issue's
        marker shows which of them it was filed for; where that is none of them any more, one is
        chosen. What a person has silenced, or deleted, stays whole.
        """
        shared = shared_issues(groups)
        self._desk.remember(after)
        there = {issue for issue, sharing in shared.items() if self._is_wanted(sharing[0], issue)}
        if there:
            self._desk.remember({})  # so that only markers count
        for issue in sorted(there):
            marked = (group for group in shared[issue] if self._owns(group, issue))
            owner = next(marked, None) or keeper(shared[issue])
            if self._is_answered:
                groups = with_owner(groups, issue, owner)
        return groups

    def _is_wanted(self, group: BucketGroup, issue: str) -> bool:
        known = self._issue_of(group.names)
        return known is not None and known.number == issue and not known.is_silenced

    def _owns(self, group: BucketGroup, issue: str) -> bool:
        filed = (self._issue_of((name,)) for name in group.names)
        return any(known is not None and known.number == issue for known in filed)

    def _adopted(self, groups: list[BucketGroup]) -> dict[str, str]:
        """Return issues that a lost baseline does not know: they are adopted, not filed twice."""
        adopted: dict[str, str] = {}
        for group in groups:
            met = [m for m in group.members if m.after and m.bucket.comparison in _MET]
            issue = self._issue_of(group.names) if met and not group.issues else None
            if issue is not None:
                parts = (m for m in group.members if m.after and self._is_public(m, issue))
                adopted |= {member.fingerprint: issue.number for member in parts}
        return adopted

    def _is_public(self, member: GroupedBucket, issue: Issue) -> bool:
        """Return whether an issue may be, or is already, about a member."""
        if not self._rules.withholds(member.bucket):
            return True
        own = self._issue_of(member.names)
        return own is not None and own.number == issue.number

    def _closes(self, group: BucketGroup) -> bool:
        """Return whether a group that is over has an issue to be closed."""
        if any(member.became_fixed for member in group.members):
            return True
        issue = self._issue_of(group.names)
        return issue is not None and issue.is_open and not issue.is_silenced

    def _warn_of_gone(self, chosen: FilingPlan) -> None:
        """Report which issues of groups that were met are gone: nothing else would."""
        met = [group for group in chosen.refreshed if group.met]
        gone = [group.issues[0] for group in met if self._issue_of(group.names) is None]
        if gone and self._is_answered:
            self._desk.says.append(_gone(gone))

    def _issue_of(self, names: tuple[str, ...]) -> Issue | None:
        """Return the group's issue; nothing where the tracker does not answer."""
        if not self._is_answered:
            return None
        try:
            return self._desk.tracker.find(*names)
        except TrackerUnavailableError:
            self._is_answered = False
            return None

    def _room(self) -> int:
        """Return how many issues this run may open."""
        try:
            today = self._desk.tracker.opened_since(datetime.now(UTC) - _DAY)
        except TrackerUnavailableError:
            self._is_answered = False
            today = 0  # nothing will be opened now, and the outbox is emptied by these rules, too
        return max(0, min(self._rules.cap, self._rules.per_day - today))


def _gone(issues: list[str]) -> str:
    named = ", ".join(visible(issue, limit=60) for issue in issues[:_MAX_NAMED])
    more = f" and {len(issues) - _MAX_NAMED} more" if len(issues) > _MAX_NAMED else ""
    what = "1 known issue is" if len(issues) == 1 else f"{len(issues)} known issues are"
    return (
        f"warning: {what} gone ({named}{more}): deleted, transferred, or without ciguard's marker. "
        "A bug is filed anew only when it comes back after a fix (docs/trackers.md)"
    )


def _met_of(group: BucketGroup) -> BucketGroup | None:
    """Return the part of a group that this run met for certain, whatever the policy files."""
    met = [
        replace(member, is_met=True)
        for member in group.members
        if member.bucket.comparison in _MET and member.bucket.confirmation is Confirmation.CONFIRMED
    ]
    return replace(group, members=tuple(met)) if met else None


def _is_grave(group: BucketGroup) -> bool:
    return any(is_security_relevant(member.bucket) for member in group.met)


def _noted(stored: Records, known: Records, issues: Mapping[str, str]) -> Records:
    """Return the baseline with the issues of this run.

    The older issue stays where another job has noted one meanwhile.

    Args:
        stored: the baseline as it is now.
        known: the baseline that the run's tasks were made for.
        issues: by fingerprint.
    """
    linked = with_issues(stored, issues)
    return {
        name: record
        if name in known and known[name].issue == stored[name].issue
        else merge_records(stored[name], record)
        for name, record in linked.items()
    }
