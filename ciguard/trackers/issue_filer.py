"""The issue filer, which performs tasks in a tracker and keeps failed tasks in the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import CiguardError, TrackerIssueError, TrackerUnavailableError
from ciguard.trackers.contract import ROLL_UP
from ciguard.trackers.dry_run import DryRun
from ciguard.trackers.tasks import Close, File, Refresh, is_due, perform, records_of
from ciguard.triage import is_fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ciguard.baseline import Change, Records
    from ciguard.trackers.contract import Issue, Tracker
    from ciguard.trackers.outbox import Outbox
    from ciguard.trackers.tasks import Task

_MAX_REFUSALS = 3
"""Number of refused tasks after which filing stops; errors that concern one issue do not count."""


class IssueFiler:
    """Performs the tasks of this run, and the tasks that earlier runs left in the outbox."""

    def __init__(self, tracker: Tracker, outbox: Outbox, *, dry_run: bool = False) -> None:
        """Create a filer; this does not access the tracker yet.

        Args:
            tracker: the tracker in which issues are filed.
            outbox: the outbox, which contains every task until it is done.
            dry_run: whether to only report what would be done, without a change of tracker or
                outbox.
        """
        self._dry = DryRun(tracker) if dry_run else None
        self.tracker: Tracker = self._dry or tracker
        self._outbox = outbox
        self.messages: list[str] = []
        """Messages for the user about what was done, one line each."""
        self._done: list[Task] = []
        self._obsolete: list[Task] = []
        """Tasks in the outbox that need not be done any more."""
        self._refused: list[Task] = []
        """Refused tasks, which move to the end of the outbox, so that they do not block others."""
        self.refusal: CiguardError | None = None
        """Error of the last refused task, which the user has to fix; None if there is none."""

    @property
    def is_dry(self) -> bool:
        """True for a dry run, which writes nothing."""
        return self._dry is not None

    def remember(self, records: Records) -> None:
        """Pass the issue numbers that the baseline records to the tracker."""
        self.tracker.remember(
            {
                name: record.issue
                for record in records.values()
                for name in (record.fingerprint, *record.aliases)
                if record.issue
            }
        )

    def waiting(self, records: Records) -> list[Task]:
        """Return the tasks that earlier runs left and that still need to be done.

        Raises:
            OutputError: if the outbox cannot be read.
        """
        tasks = self._outbox.tasks()
        pending = [task for task in tasks if is_due(task, records)]
        self._obsolete = [task for task in tasks if task not in pending]
        return pending

    def put(self, folder: Path, tasks: Sequence[Task]) -> None:
        """Put tasks into the outbox; `work` performs them later.

        Args:
            folder: the folder of the baseline, which the caller is changing.
            tasks: the tasks of this run.

        Raises:
            OutputError: if the outbox cannot be read or written.
        """
        self._outbox.put(folder, tasks)

    def work(self, tasks: Sequence[Task], records: Records, *, max_new: int) -> dict[str, str]:
        """Perform the tasks in the outbox, then `tasks`.

        Args:
            tasks: the tasks of this run that are not in the outbox yet.
            records: the current records of the baseline.
            max_new: the number of new issues that may be opened; further tasks wait for the next
                run.

        Returns:
            The number of each issue, by fingerprint. Call `settle` to record it in the baseline.

        Raises:
            OutputError: if the outbox cannot be written; no task has been performed then.
        """
        if self._dry is None:
            self._outbox.add(tasks)
            tasks = self.waiting(records)
        else:
            tasks = [*self.waiting(records), *tasks]
        self.remember(records)
        issues: dict[str, str] = {}
        refusals = 0
        for task in tasks:
            is_new = _is_new(task, records)
            if is_new and not max_new:
                continue
            try:
                issue = perform(task, self.tracker)
            except TrackerUnavailableError as error:
                self.messages.append(str(error))
                break
            except CiguardError as error:
                self.refusal = error
                self._refused.append(task)
                refusals += not isinstance(error, TrackerIssueError)
                if refusals == _MAX_REFUSALS:
                    break
                continue
            max_new -= is_new
            self._done.append(task)
            self._note(task, issue, issues)
        return issues

    def settle(self, *, change: Change | None = None) -> None:
        """Remove completed and obsolete tasks from the outbox.

        Args:
            change: a change of the baseline's records, which is written in the same step.

        Raises:
            OutputError: if the outbox cannot be read or written.
            BaselineError: if the baseline cannot be read or written.
        """
        if self._dry is not None:
            self.messages += self._dry.messages or ["dry run: there is nothing to do"]
            return
        removed = [*self._done, *self._obsolete]
        if change is None:
            self._outbox.remove(removed, postponed=self._refused)
        else:
            self._outbox.remove(removed, postponed=self._refused, change=change)
        left = len(self._outbox.tasks())
        if left:
            subject = "task waits" if left == 1 else "tasks wait"
            self.messages.append(f"{left} {subject} for the next run")

    def _note(self, task: Task, issue: Issue | None, issues: dict[str, str]) -> None:
        if issue is None:
            return
        if task.fingerprint != ROLL_UP:
            issues.update(dict.fromkeys(filter(is_fingerprint, task.names), issue.number))
        if self._dry is None:
            self.messages.append(_message(task, issue))


def _message(task: Task, issue: Issue) -> str:
    if issue.is_silenced:
        return f"{issue.number}: unchanged, because a person silenced it"
    if isinstance(task, File | Refresh):
        return f"{issue.number}: {visible(task.report.title)}"
    return f"{issue.number}: {'closed' if isinstance(task, Close) else visible(task.news)}"


def _is_new(task: Task, records: Records) -> bool:
    if not isinstance(task, File) or task.fingerprint == ROLL_UP:
        return False
    return not any(record.issue for record in records_of(task, records))
