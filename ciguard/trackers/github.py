"""Issues on GitHub: filed once per group, updated, closed and reopened."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from github import GithubException, UnknownObjectException

from ciguard.domain.text import markdown_text
from ciguard.errors import (
    TrackerError,
    TrackerGoneError,
    TrackerIssueError,
    TrackerUnavailableError,
)
from ciguard.trackers.connection import IssueDefaults
from ciguard.trackers.contract import ROLL_UP, Issue, Report, marked_with
from ciguard.trackers.github_client import FAILURES, GitHubClient, is_locked, may_have_succeeded
from ciguard.trackers.github_index import IssueIndex
from ciguard.trackers.retry_budget import RetryBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from github.Issue import Issue as GitHubIssue
    from github.IssueComment import IssueComment

    from ciguard.trackers.connection import Connection

IGNORE = "ciguard:ignore"
"""Label by which a person silences an issue."""

_NOTE = "<!-- ciguard-note -->"
_DAY = timedelta(days=1)
_SETTLE_S = 5.0
"""Wait after a POST without a response, in seconds, before a listing can show its effect."""
_MAX_UNCERTAIN_POSTS = 2
"""Maximum number of POSTs with an unknown effect; then the next run tries again."""
_MAX_LISTINGS = 5
_MAX_NOTE_LENGTH = 1_000
_RETRY_BUDGET_S = 120.0


def _now() -> datetime:
    return datetime.now(UTC)


class GitHubTracker:
    """The issues of one repository.

    Two jobs may file concurrently. Each job lists the issues before and after it creates an issue.
    Of a group's issues, the one with the lowest number is kept. The others are closed as
    duplicates, and lose their marker.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        defaults: IssueDefaults | None = None,
        retry_budget: RetryBudget | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Connect on the first request.

        Args:
            connection: the repository and the token.
            defaults: the labels and assignees of new issues.
            retry_budget: the time limit of all requests together.
            now: a function that returns the current time.
        """
        self._client = GitHubClient(connection, retry_budget or RetryBudget(_RETRY_BUDGET_S))
        self._defaults = defaults or IssueDefaults()
        self._now = now
        self._label = self._defaults.label
        self._index = IssueIndex(self._client, label=self._label, now=now)
        self._has_label = False

    def remember(self, numbers: Mapping[str, str]) -> None:
        """See `Tracker`."""
        self._index.remember(numbers)

    def find(self, *names: str) -> Issue | None:
        """Return the group's issue, open or closed; None if there is none.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        # Every run updates the roll-up issue, so a search for it is not worth its cost.
        marked = self._index.marked(names, searches=ROLL_UP not in names)
        kept = _kept_issue(marked, names[0])
        return None if kept is None else _issue(names[0], kept)

    def open(self, report: Report) -> Issue:
        """File an issue, or replace the text, but not the title, of the group's issue.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        kept = self._deduplicate(report.names) or self._create_issue(report)
        issue = _issue(report.fingerprint, kept)
        if not issue.is_silenced and _lines(kept.body) != _lines(report.body):
            self._edit(kept, body=report.body)
        return issue

    def comment(self, issue: Issue, text: str) -> None:
        """Add a line of text, and notify subscribers at most once a day.

        The line is added to our comment of the last day if there is one, else posted as a new
        comment. In a locked issue, where bots may not comment, it is added to the issue's own text.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        github_issue = self._existing(issue)
        if _is_silenced(github_issue):
            return
        line = markdown_text(text, limit=_MAX_NOTE_LENGTH)
        if github_issue.locked:
            self._append(github_issue, line)
            return
        for attempt in itertools.count():
            notes = self._notes(github_issue)
            if notes:
                self._merge_notes(notes, line)
                return
            try:
                github_issue.create_comment(f"{_NOTE}\n\n{line}")
            except FAILURES as failure:
                if is_locked(failure):  # locked after the issue was listed
                    self._append(github_issue, line)
                    return
                self._client.wait_or_raise(
                    failure, attempt, first_wait_s=_SETTLE_S, issue=github_issue.number
                )
                continue
            # Another job may have posted a comment at the same time.
            self._merge_notes(self._notes(github_issue), line)
            return

    def close(self, issue: Issue, because: str) -> Issue:
        """Close the issue with a comment that gives the reason, unless it is closed.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        return self._set_state(issue, because, state="closed", reason="completed")

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Reopen the issue with a comment that gives the reason, unless it is open.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        return self._set_state(issue, because, state="open", reason="reopened")

    def opened_since(self, moment: datetime) -> int:
        """Return how many issues of groups were opened since `moment`; `ROLL_UP` does not count.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        github_issue = [issue for issue in self._index.issues() if issue.created_at >= moment]
        marks = [marked_with(issue.body or "") for issue in github_issue]
        return sum(bool(mark) and mark != ROLL_UP for mark in marks)

    def _set_state(self, issue: Issue, because: str, *, state: str, reason: str) -> Issue:
        github_issue = self._existing(issue)
        if github_issue.state != state and not _is_silenced(github_issue):
            # The comment comes first: if the second request fails, the next run repeats both.
            self.comment(issue, because)
            self._edit_state(github_issue, state, reason)
        return _issue(issue.fingerprint, github_issue)

    def _edit(self, github_issue: GitHubIssue, **changed: str) -> None:
        try:
            self._client.retry(
                lambda: github_issue.edit(**changed),  # type: ignore[arg-type] # strings only
                issue=github_issue.number,
            )
        except TrackerGoneError:
            self._index.remove(github_issue)
            raise

    def _edit_state(self, github_issue: GitHubIssue, state: str, reason: str) -> None:
        try:
            self._edit(github_issue, state=state, state_reason=reason)
        except TrackerIssueError as refused:
            if state != "open" or not github_issue.locked or isinstance(refused, TrackerGoneError):
                raise
            # If an issue becomes a discussion, a locked issue is left that cannot be reopened.
            self._index.remove(github_issue)
            raise TrackerGoneError(str(refused), successor_of=github_issue.number) from refused

    def _append(self, github_issue: GitHubIssue, line: str) -> None:
        if line not in _lines(github_issue.body):
            self._edit(github_issue, body=f"{(github_issue.body or '').rstrip()}\n\n{line}")

    def _create_issue(self, report: Report) -> GitHubIssue:
        """Create the issue, and return it, or the issue that another job created for the group.

        The issues are listed before each attempt, because a failed request may have created one.
        """
        self._ensure_label()
        uncertain_posts = 0
        for attempt in itertools.count():
            self._index.update()
            existing = self._deduplicate(report.names)
            if existing is not None:
                return existing
            if uncertain_posts == _MAX_UNCERTAIN_POSTS:
                msg = (
                    f"{report.fingerprint}: GitHub may have created the issue, but does "
                    "not list it yet. The next run will look for the issue again."
                )
                raise TrackerUnavailableError(msg)
            try:
                created = self._post(report)
            except FAILURES as failure:
                self._client.wait_or_raise(failure, attempt, first_wait_s=_SETTLE_S)
                uncertain_posts += may_have_succeeded(failure)
            else:
                self._require_label(created)
                self._wait_until_listed(created)
                return self._deduplicate(report.names) or created
        raise AssertionError  # `count` never ends

    def _post(self, report: Report) -> GitHubIssue:
        return self._client.repository.create_issue(
            report.title,
            report.body,
            labels=list(dict.fromkeys((self._label, *self._defaults.labels))),
            assignees=list(self._defaults.assignees),
        )

    def _wait_until_listed(self, created: GitHubIssue) -> None:
        """List issues until ours appears, so that older issues of other jobs have appeared too."""
        for attempt in range(_MAX_LISTINGS):
            if created.number in self._index.update():
                return
            self._client.wait(
                2.0**attempt, because=f"GitHub does not list the new issue #{created.number} yet"
            )

    def _deduplicate(self, names: tuple[str, ...]) -> GitHubIssue | None:
        """Return the issue of a group after closing its duplicates; None if there is none."""
        marked = self._index.marked(names)
        kept = _kept_issue(marked, names[0])
        for other in marked:
            is_untouched = other is kept or other.state != "open" or _is_silenced(other)
            if kept is not None and not is_untouched:
                self._close_as_duplicate(other, of=kept)
        return kept

    def _close_as_duplicate(self, other: GitHubIssue, *, of: GitHubIssue) -> None:
        # The new body has no marker, so that the duplicate does not count as the group's issue.
        body = f"Duplicate of #{of.number}, which has the same cause."
        self._edit(other, body=body, state="closed", state_reason="duplicate")

    def _existing(self, issue: Issue) -> GitHubIssue:
        github_issue = self._index.get(issue.number)
        if github_issue is None:
            msg = (
                f"#{issue.number}: this repository has no issue with this number that ciguard filed"
            )
            raise TrackerGoneError(msg)
        return github_issue

    def _notes(self, github_issue: GitHubIssue) -> list[IssueComment]:
        """Return our comments of the last day, the oldest first."""
        since = self._now() - _DAY
        comments = self._client.retry(
            lambda: list(github_issue.get_comments(since=since)), issue=github_issue.number
        )
        return [c for c in comments if c.body.startswith(_NOTE) and c.created_at >= since]

    def _merge_notes(self, notes: list[IssueComment], line: str) -> None:
        """Add a line to the oldest note, and merge the notes of other jobs into it."""
        if not notes:
            return  # GitHub does not list the new comment yet
        first, *others = notes
        lines = dict.fromkeys(itertools.chain(*map(_note_lines, others), [line]))
        missing = [text for text in lines if text not in _note_lines(first)]
        if missing:
            body = "\n\n".join([first.body.rstrip(), *missing])
            self._client.retry(lambda: first.edit(body))
        for note in others:
            self._client.retry(partial(_delete, note))

    def _ensure_label(self) -> None:
        """Create the label if it is missing, so that a token without permission fails early."""
        if self._has_label:
            return
        repository = self._client.repository

        def ensure_label() -> None:
            try:
                repository.get_label(self._label).complete()
            except UnknownObjectException:
                try:
                    repository.create_label(self._label, "b60205", "Filed by ciguard")
                except GithubException as failure:
                    if failure.status != HTTPStatus.UNPROCESSABLE_ENTITY:
                        raise  # 422 means that another job has just created it

        self._client.retry(ensure_label)
        self._has_label = True

    def _require_label(self, created: GitHubIssue) -> None:
        """Check that a created issue has the label; otherwise close the issue.

        ciguard finds issues by their label. Without the label, each run would file a duplicate.

        Raises:
            TrackerError: if the label is missing.
        """
        if any(label.name == self._label for label in created.labels):
            self._index.add(created)
            return
        self._client.retry(lambda: created.edit(state="closed", state_reason="not_planned"))
        msg = (
            f"#{created.number}: GitHub did not set the label {self._label!r}, so ciguard closed "
            "the issue. Give the token `issues: write` and push access to the repository."
        )
        raise TrackerError(msg)


def _kept_issue(marked: list[GitHubIssue], name: str) -> GitHubIssue | None:
    """Return the issue of a group to keep; None if the group has no issues.

    The order of precedence is: an issue that was silenced under the group's own name, the lowest
    open issue, another silenced issue, an unlocked issue, any issue. A locked issue may have become
    a discussion.

    Args:
        marked: the issues of the group and its buckets, by number.
        name: the name of the group.
    """
    silenced = [github_issue for github_issue in marked if _is_silenced(github_issue)]
    own = [
        github_issue for github_issue in silenced if marked_with(github_issue.body or "") == name
    ]
    opened = [
        github_issue
        for github_issue in marked
        if github_issue.state == "open" and github_issue not in silenced
    ]
    unlocked = [github_issue for github_issue in marked if not github_issue.locked]
    return next(iter([*own, *opened, *silenced, *unlocked, *marked]), None)


def _is_silenced(github_issue: GitHubIssue) -> bool:
    by_label = any(label.name == IGNORE for label in github_issue.labels)
    return by_label or (
        github_issue.state == "closed" and github_issue.state_reason in {"not_planned", "duplicate"}
    )


def _issue(fingerprint: str, github_issue: GitHubIssue) -> Issue:
    return Issue(
        fingerprint=fingerprint,
        number=str(github_issue.number),
        is_open=github_issue.state == "open",
        is_silenced=_is_silenced(github_issue),
    )


def _lines(text: str | None) -> list[str]:
    return (text or "").replace("\r\n", "\n").strip().split("\n")


def _note_lines(note: IssueComment) -> list[str]:
    return [line for line in _lines(note.body) if line and line != _NOTE]


def _delete(note: IssueComment) -> None:
    try:
        note.delete()
    except UnknownObjectException:
        return  # another job deleted it
