"""The desk: does tasks in a tracker, and keeps in the outbox what it could not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import CiguardError, TrackerIssueError, TrackerUnavailableError
from ciguard.trackers.contract import ROLL_UP
from ciguard.trackers.dry import DryRun
from ciguard.trackers.tasks import Close, File, Refresh, perform, records_of, still_holds
from ciguard.triage import is_fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ciguard.baseline import Change, Records
    from ciguard.trackers.contract import Issue, Tracker
    from ciguard.trackers.outbox import Outbox
    from ciguard.trackers.tasks import Task

_MAX_REFUSALS = 3
"""What a tracker refuses again and again, it refuses for the rest too; trouble with single issues
does not count."""


class Desk:
    """Does the tasks of this run and those that earlier runs left."""

    def __init__(self, tracker: Tracker, outbox: Outbox, *, dry_run: bool = False) -> None:
        """Sit down.

        Args:
            tracker: where issues go.
            outbox: holds every task until it is done.
            dry_run: only say what would be done; what waits goes on waiting.
        """
        self._dry = DryRun(tracker) if dry_run else None
        self.tracker: Tracker = self._dry or tracker
        self._outbox = outbox
        self.says: list[str] = []
        """What was done, for a person, one line each."""
        self._done: list[Task] = []
        self._void: list[Task] = []
        """What waited and need not be done any more."""
        self._refused: list[Task] = []
        """What waits behind everything else from now on, so that it holds up nothing."""
        self.refusal: CiguardError | None = None
        """Why something was refused that only a person can put right."""

    @property
    def is_dry(self) -> bool:
        """Whether nothing is written."""
        return self._dry is not None

    def remember(self, records: Records) -> None:
        """Let the tracker know which issues the baseline knows."""
        self.tracker.remember(
            {
                name: record.issue
                for record in records.values()
                for name in (record.fingerprint, *record.aliases)
                if record.issue
            }
        )

    def waiting(self, records: Records) -> list[Task]:
        """Return what earlier runs left and is still to be done.

        Raises:
            OutputError: if the outbox cannot be read.
        """
        tasks = self._outbox.tasks()
        holding = [task for task in tasks if still_holds(task, records)]
        self._void = [task for task in tasks if task not in holding]
        return holding

    def put(self, folder: Path, tasks: Sequence[Task]) -> None:
        """Put tasks into the outbox, to be done by `work`.

        Args:
            folder: the baseline's, in the course of a change of it.
            tasks: of this run.

        Raises:
            OutputError: if the outbox cannot be read or written.
        """
        self._outbox.put(folder, tasks)

    def work(self, tasks: Sequence[Task], records: Records, *, room: int) -> dict[str, str]:
        """Do what waits, then these tasks.

        Args:
            tasks: of this run, those that were not put into the outbox before.
            records: the baseline as it is now.
            room: how many new issues may be opened; more wait for the next run.

        Returns:
            Issue by fingerprint. Call `settle` once the baseline knows it.

        Raises:
            OutputError: if the outbox cannot be written: nothing was done then.
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
            if is_new and not room:
                continue
            try:
                issue = perform(task, self.tracker)
            except TrackerUnavailableError as error:
                self.says.append(str(error))
                break
            except CiguardError as error:
                self.refusal = error
                self._refused.append(task)
                refusals += not isinstance(error, TrackerIssueError)
                if refusals == _MAX_REFUSALS:
                    break
                continue
            room -= is_new
            self._done.append(task)
            self._note(task, issue, issues)
        return issues

    def settle(self, *, change: Change | None = None) -> None:
        """Forget what is done.

        Args:
            change: what the baseline is to know of it; written in the same step.

        Raises:
            OutputError: if the outbox cannot be read or written.
            BaselineError: if the baseline cannot.
        """
        if self._dry is not None:
            self.says += self._dry.says or ["nothing would be done"]
            return
        gone = [*self._done, *self._void]
        if change is None:
            self._outbox.remove(gone, behind=self._refused)
        else:
            self._outbox.remove(gone, behind=self._refused, change=change)
        left = len(self._outbox.tasks())
        if left:
            self.says.append(f"{left} wait for the next run")

    def _note(self, task: Task, issue: Issue | None, issues: dict[str, str]) -> None:
        if issue is None:
            return
        if task.fingerprint != ROLL_UP:
            issues.update(dict.fromkeys(filter(is_fingerprint, task.names), issue.number))
        if self._dry is None:
            self.says.append(_said(task, issue))


def _said(task: Task, issue: Issue) -> str:
    if issue.is_silenced:
        return f"{issue.number}: left alone, as a person asked"
    if isinstance(task, File | Refresh):
        return f"{issue.number}: {visible(task.report.title)}"
    return f"{issue.number}: {'closed' if isinstance(task, Close) else visible(task.news)}"


def _is_new(task: Task, records: Records) -> bool:
    if not isinstance(task, File) or task.fingerprint == ROLL_UP:
        return False
    return not any(record.issue for record in records_of(task, records))
