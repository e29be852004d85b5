"""The reporter that files the findings of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ciguard.baseline import merge_records, records_with_issues
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Comparison, Confirmation, Verdict
from ciguard.domain.text import visible
from ciguard.errors import TrackerError, TrackerUnavailableError
from ciguard.trackers.authoring import Author, IssueSources
from ciguard.trackers.contract import ROLL_UP
from ciguard.trackers.disclosure import (
    disclosed_message,
    is_security_relevant,
    withheld_message,
    write_upstream_reports,
)
from ciguard.trackers.groups import (
    groups_of,
    groups_with_issues,
    keeper,
    shared_issues,
    with_owner,
)
from ciguard.trackers.policy import of_this_tracker, plan
from ciguard.trackers.tasks import File, Refresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ciguard.baseline import BaselineStore, Records
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket
    from ciguard.trackers.contract import Issue
    from ciguard.trackers.disclosure import SecurityCrash
    from ciguard.trackers.groups import BucketGroup, GroupedBucket
    from ciguard.trackers.issue_filer import IssueFiler
    from ciguard.trackers.policy import FilingPlan, FilingRules
    from ciguard.trackers.tasks import Task

_CONCLUSIVE = frozenset({Verdict.ESTABLISHED, Verdict.CLEAN, Verdict.NEW_FINDINGS})
_SEEN = frozenset({Comparison.NEW, Comparison.KNOWN})
_MAX_NAMED = 5
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _RunResult:
    """The verdict and the buckets of a run."""

    verdict: Verdict
    buckets: tuple[Bucket, ...]
    versions: Mapping[str, str]


class FilingReporter:
    """Files the findings of a run after its end, once the baseline contains them."""

    def __init__(
        self,
        issue_filer: IssueFiler,
        store: BaselineStore,
        *,
        rules: FilingRules,
        sources: IssueSources,
    ) -> None:
        """Read the baseline before the run.

        Args:
            issue_filer: the filer that performs the tasks.
            store: the store of the baseline, which records the issue of each bucket.
            rules: the project's rules for filing.
            sources: the sources of an issue's text.

        Raises:
            BaselineError: if the baseline cannot be read.
        """
        self._issue_filer = issue_filer
        self._store = store
        self._rules = rules
        self._sources = sources
        self._discloser = rules.discloser
        self._crashes: list[SecurityCrash] = []
        self._before: Records = self._load() if store.exists() else {}
        self._max_new: int | None = None
        """Number of issues that this run may open; None until its tasks are in the outbox."""
        self._corrections: dict[str, str] = {}
        """Issue numbers that the baseline lacks or has wrong, by fingerprint; an empty number means
        that the bucket has no issue."""
        self._is_reachable = True
        """False after the tracker did not respond; the tracker is not asked again."""
        self._failure: Exception | None = None

    def plan_issues(
        self, verdict: Verdict, buckets: tuple[Bucket, ...], versions: Mapping[str, str]
    ) -> Callable[[Path, Records], None]:
        """Return a function that puts the tasks of a run into the outbox.

        The caller runs it while it writes the new baseline, so that baseline and tasks are written
        in one step. An error does not stop the write; `receive` raises it later.

        Args:
            verdict: the verdict of the run.
            buckets: the buckets of the run, as in `RunFinished.buckets`.
            versions: the library's version, by target.

        Returns:
            A function that writes the outbox, given the baseline's folder and its new records.
        """
        result = _RunResult(verdict, buckets, versions)
        max_new = None if self._issue_filer.is_dry else self._attempt(self._remaining_issues)

        def put(folder: Path, after: Records) -> None:
            if max_new is None:
                return
            known = of_this_tracker(after, self._rules)
            self._max_new = self._attempt(lambda: self._put(folder, result, known, max_new))

        return put

    def receive(self, event: Event) -> None:
        """File the findings when the run ends, unless it was interrupted or failed.

        Raises:
            CiguardError: if the tracker rejects a task, or the outbox or the baseline cannot be
                written. If the tracker does not respond, no error is raised, and the tasks stay in
                the outbox.
        """
        if isinstance(event, RunFinished) and event.verdict in _CONCLUSIVE:
            if self._failure is not None:
                raise self._failure
            self._file(event)

    def close(self) -> None:
        """See `Reporter`."""

    def _load(self) -> Records:
        return of_this_tracker(self._store.load(), self._rules)

    def _attempt(self, action: Callable[[], int]) -> int | None:
        self._failure = None
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - a reporter's failure must not stop the run
            self._failure = error
            return None

    def _put(self, folder: Path, result: _RunResult, after: Records, max_new: int) -> int:
        self._issue_filer.put(folder, self._tasks(result, after, max_new))
        return max_new

    def _tasks(self, result: _RunResult, after: Records, max_new: int) -> list[Task]:
        """Return the tasks for a run's groups that the outbox does not contain yet."""
        groups = self._groups(result.buckets, after)
        waiting = self._issue_filer.waiting(records_with_issues(after, self._corrections))
        queued = [t for t in waiting if isinstance(t, File) and t.fingerprint != ROLL_UP]
        names = {name for task in queued for name in task.names}
        filing_plan = plan(
            [group for group in groups if names.isdisjoint(group.names)],
            rules=replace(self._rules, cap=max(0, max_new - len(queued))),
            establishes=result.verdict is Verdict.ESTABLISHED,
        )
        filing_plan = replace(filing_plan, closed=tuple(filter(self._closes, filing_plan.closed)))
        self._warn_of_missing_issues(filing_plan)
        announced = {name for task in waiting if isinstance(task, Refresh) for name in task.names}
        author = Author(result.versions, self._sources, announced=announced)
        self._prepare_disclosure(groups, filing_plan, author)
        return author.tasks(filing_plan)

    def _prepare_disclosure(
        self, groups: list[BucketGroup], filing_plan: FilingPlan, author: Author
    ) -> None:
        """Write the reports to send upstream, and store the crashes to file in private."""
        withheld_groups = {group.name: group for group in filing_plan.withheld}
        seen = filter(None, map(_seen_part, groups))
        severe = (withheld_groups.get(group.name, group) for group in seen)
        crashes = {
            group.name: author.crash(group) for group in severe if _is_security_relevant(group)
        }
        write_upstream_reports(self._sources.out, crashes.values())
        self._crashes = [crashes[name] for name in withheld_groups if name in crashes]
        if filing_plan.withheld and (self._discloser is None or self._issue_filer.is_dry):
            self._issue_filer.messages.append(withheld_message(len(filing_plan.withheld)))

    def _file(self, event: RunFinished) -> None:
        after = self._load()
        max_new = self._max_new
        tasks: list[Task] = []
        if max_new is None:  # `plan_issues` was not called
            versions = {target.name: target.version for target in event.targets}
            max_new = self._remaining_issues()
            tasks = self._tasks(_RunResult(event.verdict, event.buckets, versions), after, max_new)
        corrected = records_with_issues(after, self._corrections)
        issues = self._issue_filer.work(tasks, corrected, max_new=max_new)
        self._issue_filer.settle(change=lambda stored: _with_new_issues(stored, after, issues))
        refusal = self._issue_filer.refusal
        try:
            self._disclose()
        except TrackerError as error:
            if refusal is None:
                raise
            self._issue_filer.messages.append(visible(str(error)))
        if refusal is not None:
            raise refusal

    def _disclose(self) -> None:
        """File crashes in private. The baseline does not record them, because it may be public.

        After a failure, the next run that sees the crash tries again.
        """
        names: list[str] = []
        try:
            for name in self._file_private_reports():
                names.append(name)  # noqa: PERF402 - after an error, `finally` needs the first names
        except TrackerUnavailableError as error:
            self._issue_filer.messages.append(str(error))
        finally:
            if names:
                self._issue_filer.messages.append(disclosed_message(names))

    def _file_private_reports(self) -> Iterator[str]:
        """File the crashes in private, and yield the name of each report."""
        max_new = self._rules.cap
        if self._discloser is None or self._issue_filer.is_dry:
            return
        for crash in self._crashes:
            report = self._discloser.disclose(crash, may_create=max_new > 0)
            if report is not None:
                max_new -= report.is_new
                yield report.name

    def _groups(self, buckets: tuple[Bucket, ...], after: Records) -> list[BucketGroup]:
        """Group the buckets, and return the groups with their issue numbers in the tracker."""
        groups = groups_of(buckets, before=self._before, after=after)
        groups = self._split_issues(groups, after)
        dropped_issues = {
            m.fingerprint: "" for group in groups for m in group.members if m.former_issue
        }
        self._issue_filer.remember(records_with_issues(after, dropped_issues))
        adopted = self._adopted_issues(groups)
        self._corrections = dropped_issues | adopted
        return groups_with_issues(groups, adopted)

    def _split_issues(self, groups: list[BucketGroup], after: Records) -> list[BucketGroup]:
        """Assign each issue that several groups share to one of these groups.

        Groups share an issue if they were one group before their causes were known better. The
        marker in the issue names the group that keeps it. If that group no longer exists, `keeper`
        chooses a group. Silenced and deleted issues stay shared.
        """
        shared = shared_issues(groups)
        self._issue_filer.remember(after)
        active = {issue for issue, sharing in shared.items() if self._is_active(sharing[0], issue)}
        if active:
            self._issue_filer.remember({})  # so that only markers count
        for issue in sorted(active):
            marked = (group for group in shared[issue] if self._owns(group, issue))
            owner = next(marked, None) or keeper(shared[issue])
            if self._is_reachable:
                groups = with_owner(groups, issue, owner)
        return groups

    def _is_active(self, group: BucketGroup, issue: str) -> bool:
        known = self._issue_of(group.names)
        return known is not None and known.number == issue and not known.is_silenced

    def _owns(self, group: BucketGroup, issue: str) -> bool:
        filed = (self._issue_of((name,)) for name in group.names)
        return any(known is not None and known.number == issue for known in filed)

    def _adopted_issues(self, groups: list[BucketGroup]) -> dict[str, str]:
        """Return existing issues that the baseline does not record, by fingerprint.

        Without them, the issues would be filed a second time.
        """
        adopted: dict[str, str] = {}
        for group in groups:
            seen = [m for m in group.members if m.after and m.bucket.comparison in _SEEN]
            issue = self._issue_of(group.names) if seen and not group.issues else None
            if issue is not None:
                members = (m for m in group.members if m.after and self._is_public(m, issue))
                adopted |= {member.fingerprint: issue.number for member in members}
        return adopted

    def _is_public(self, member: GroupedBucket, issue: Issue) -> bool:
        """Return whether a member may appear in a public issue, or already appears there."""
        if not self._rules.withholds(member.bucket):
            return True
        own = self._issue_of(member.names)
        return own is not None and own.number == issue.number

    def _closes(self, group: BucketGroup) -> bool:
        """Return whether a group without open members has an issue to close."""
        if any(member.became_fixed for member in group.members):
            return True
        issue = self._issue_of(group.names)
        return issue is not None and issue.is_open and not issue.is_silenced

    def _warn_of_missing_issues(self, filing_plan: FilingPlan) -> None:
        """Add a message about missing issues of groups that this run saw."""
        seen = [group for group in filing_plan.refreshed if group.seen_members]
        missing = [group.issues[0] for group in seen if self._issue_of(group.names) is None]
        if missing and self._is_reachable:
            self._issue_filer.messages.append(_missing_issues_warning(missing))

    def _issue_of(self, names: tuple[str, ...]) -> Issue | None:
        """Return the group's issue; None if there is none or the tracker does not respond."""
        if not self._is_reachable:
            return None
        try:
            return self._issue_filer.tracker.find(*names)
        except TrackerUnavailableError:
            self._is_reachable = False
            return None

    def _remaining_issues(self) -> int:
        """Return the number of issues that this run may open."""
        try:
            today = self._issue_filer.tracker.opened_since(datetime.now(UTC) - _DAY)
        except TrackerUnavailableError:
            self._is_reachable = False
            today = 0  # this run opens no issues; the run that empties the outbox applies the limit
        return max(0, min(self._rules.cap, self._rules.per_day - today))


def _missing_issues_warning(issues: list[str]) -> str:
    named = ", ".join(visible(issue, limit=60) for issue in issues[:_MAX_NAMED])
    more = f" and {len(issues) - _MAX_NAMED} more" if len(issues) > _MAX_NAMED else ""
    subject = "1 known issue is" if len(issues) == 1 else f"{len(issues)} known issues are"
    return (
        f"warning: {subject} missing ({named}{more}): deleted, transferred, or without "
        "ciguard's marker. A bug whose issue is missing is filed again only if the bug "
        "returns after a fix (docs/trackers.md)"
    )


def _seen_part(group: BucketGroup) -> BucketGroup | None:
    """Return the group with the confirmed members that this run saw; None without such members."""
    seen = [
        replace(member, is_seen=True)
        for member in group.members
        if member.bucket.comparison in _SEEN
        and member.bucket.confirmation is Confirmation.CONFIRMED
    ]
    return replace(group, members=tuple(seen)) if seen else None


def _is_security_relevant(group: BucketGroup) -> bool:
    return any(is_security_relevant(member.bucket) for member in group.seen_members)


def _with_new_issues(stored: Records, known: Records, issues: Mapping[str, str]) -> Records:
    """Return the baseline's records with the issues of this run.

    If another job has recorded an issue for a bucket, the older issue stays.

    Args:
        stored: the current records of the baseline.
        known: the records when the tasks of the run were created.
        issues: the issues of this run, by fingerprint.
    """
    linked = records_with_issues(stored, issues)
    return {
        name: record
        if name in known and known[name].issue == stored[name].issue
        else merge_records(stored[name], record)
        for name, record in linked.items()
    }
