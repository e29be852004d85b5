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
from ciguard.trackers.connection import Terms
from ciguard.trackers.contract import ROLL_UP, Issue, Report, marked_with
from ciguard.trackers.github_client import FAILURES, GitHubClient, is_locked, may_be_done
from ciguard.trackers.github_index import IssueIndex
from ciguard.trackers.retry_budget import RetryBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from github.Issue import Issue as Filed
    from github.IssueComment import IssueComment

    from ciguard.trackers.connection import Connection

IGNORE = "ciguard:ignore"
"""Label by which a person silences an issue."""

_NOTE = "<!-- ciguard-note -->"
_DAY = timedelta(days=1)
_SETTLE_S = 5.0
"""Wait after a POST without a response, in seconds, until a listing shows its effect."""
_MAX_DOUBTS = 2
"""Limit on POSTs with an unknown effect; then the next run tries again."""
_MAX_LOOKS = 5
_MAX_NOTE = 1_000
_RETRY_BUDGET_S = 120.0


def _now() -> datetime:
    return datetime.now(UTC)


class GitHubTracker:
    """The issues of one repository.

    Two jobs may file concurrently. Each lists the issues before and after it creates one. The
    lowest number stays; the others are closed as duplicates and lose their marker.
    """

    def __init__(
        self,
        to: Connection,
        *,
        terms: Terms | None = None,
        retry_budget: RetryBudget | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Connect on the first request.

        Args:
            to: the repository and the token.
            terms: the labels and assignees of new issues.
            retry_budget: the time limit of all requests together.
            now: a function that returns the current time.
        """
        self._client = GitHubClient(to, retry_budget or RetryBudget(_RETRY_BUDGET_S))
        self._terms = terms or Terms()
        self._now = now
        self._label = self._terms.label
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
        # Every run updates the list of further findings, so a search for it is not worth its cost.
        marked = self._index.marked(names, searches=ROLL_UP not in names)
        kept = _kept_issue(marked, names[0])
        return None if kept is None else _issue(names[0], kept)

    def open(self, report: Report) -> Issue:
        """File an issue, or replace the text, but not the title, of the group's issue.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        kept = self._deduplicated(report.names) or self._created(report)
        issue = _issue(report.fingerprint, kept)
        if not issue.is_silenced and _lines(kept.body) != _lines(report.body):
            self._edit(kept, body=report.body)
        return issue

    def comment(self, issue: Issue, text: str) -> None:
        """Post a comment, which notifies subscribers at most once a day.

        Text within a day of an earlier comment is added to that comment. In a locked issue, in
        which a bot may not comment, it is added to the issue's own text.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        filed = self._known(issue)
        if _is_silenced(filed):
            return
        line = markdown_text(text, limit=_MAX_NOTE)
        if filed.locked:
            self._append(filed, line)
            return
        for attempt in itertools.count():
            notes = self._notes(filed)
            if notes:
                self._gather(notes, line)
                return
            try:
                filed.create_comment(f"{_NOTE}\n\n{line}")
            except FAILURES as failure:
                if is_locked(failure):  # since it was listed
                    self._append(filed, line)
                    return
                self._client.give_way(failure, attempt, least_s=_SETTLE_S, issue=filed.number)
                continue
            # Another job may have posted a comment at the same time.
            self._gather(self._notes(filed), line)
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
        """Return how many groups got their issue at `moment` or later, without the list.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        filed = [issue for issue in self._index.issues() if issue.created_at >= moment]
        marks = [marked_with(issue.body or "") for issue in filed]
        return sum(bool(mark) and mark != ROLL_UP for mark in marks)

    def _set_state(self, issue: Issue, because: str, *, state: str, reason: str) -> Issue:
        filed = self._known(issue)
        if filed.state != state and not _is_silenced(filed):
            # The comment first: if the second request fails, the next run repeats both.
            self.comment(issue, because)
            self._edit_state(filed, state, reason)
        return _issue(issue.fingerprint, filed)

    def _edit(self, filed: Filed, **changed: str) -> None:
        try:
            self._client.retry(
                lambda: filed.edit(**changed),  # type: ignore[arg-type] # strings only
                issue=filed.number,
            )
        except TrackerGoneError:
            self._index.remove(filed)
            raise

    def _edit_state(self, filed: Filed, state: str, reason: str) -> None:
        try:
            self._edit(filed, state=state, state_reason=reason)
        except TrackerIssueError as refused:
            if state != "open" or not filed.locked or isinstance(refused, TrackerGoneError):
                raise
            # It became a discussion, which leaves a locked issue that cannot be reopened.
            self._index.remove(filed)
            raise TrackerGoneError(str(refused), successor_of=filed.number) from refused

    def _append(self, filed: Filed, line: str) -> None:
        if line not in _lines(filed.body):
            self._edit(filed, body=f"{(filed.body or '').rstrip()}\n\n{line}")

    def _created(self, report: Report) -> Filed:
        """Create the issue unless another job did. Before each retry, the issues are listed."""
        self._ensure_label()
        doubts = 0
        for attempt in itertools.count():
            self._index.update()
            existing = self._deduplicated(report.names)
            if existing is not None:
                return existing
            if doubts == _MAX_DOUBTS:
                msg = f"{report.fingerprint}: GitHub may have filed it but does not list it yet"
                raise TrackerUnavailableError(msg)
            try:
                created = self._post(report)
            except FAILURES as failure:
                self._client.give_way(failure, attempt, least_s=_SETTLE_S)
                doubts += may_be_done(failure)
            else:
                self._require_label(created)
                self._wait_until_listed(created)
                return self._deduplicated(report.names) or created
        raise AssertionError  # `count` never ends

    def _post(self, report: Report) -> Filed:
        return self._client.repository.create_issue(
            report.title,
            report.body,
            labels=list(dict.fromkeys((self._label, *self._terms.labels))),
            assignees=list(self._terms.assignees),
        )

    def _wait_until_listed(self, created: Filed) -> None:
        """List issues until ours appears: any that another job filed earlier then appears too."""
        for attempt in range(_MAX_LOOKS):
            if created.number in self._index.update():
                return
            self._client.wait(2.0**attempt, because=f"#{created.number} is not listed yet")

    def _deduplicated(self, names: tuple[str, ...]) -> Filed | None:
        """Return the issue of a group after closing its duplicates; None if there is none."""
        marked = self._index.marked(names)
        kept = _kept_issue(marked, names[0])
        for other in marked:
            is_untouched = other is kept or other.state != "open" or _is_silenced(other)
            if kept is not None and not is_untouched:
                self._close_as_duplicate(other, of=kept)
        return kept

    def _close_as_duplicate(self, other: Filed, *, of: Filed) -> None:
        # The new body has no marker, so that it is not found as the group's issue again.
        body = f"Duplicate of #{of.number}, which is about the same cause."
        self._edit(other, body=body, state="closed", state_reason="duplicate")

    def _known(self, issue: Issue) -> Filed:
        filed = self._index.get(issue.number)
        if filed is None:
            msg = f"#{issue.number}: this repository has no such issue filed by ciguard"
            raise TrackerGoneError(msg)
        return filed

    def _notes(self, filed: Filed) -> list[IssueComment]:
        """Return our comments of the last day, the oldest first."""
        since = self._now() - _DAY
        comments = self._client.retry(
            lambda: list(filed.get_comments(since=since)), issue=filed.number
        )
        return [c for c in comments if c.body.startswith(_NOTE) and c.created_at >= since]

    def _gather(self, notes: list[IssueComment], line: str) -> None:
        """Add a line to the oldest note, and merge the notes of other jobs into it."""
        if not notes:
            return  # not listed yet
        first, *others = notes
        lines = dict.fromkeys(itertools.chain(*map(_note_lines, others), [line]))
        missing = [text for text in lines if text not in _note_lines(first)]
        if missing:
            body = "\n\n".join([first.body.rstrip(), *missing])
            self._client.retry(lambda: first.edit(body))
        for note in others:
            self._client.retry(partial(_delete, note))

    def _ensure_label(self) -> None:
        """Create the label if it is missing, which fails early if the token may not set labels."""
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

    def _require_label(self, created: Filed) -> None:
        """Check that a created issue has the label; otherwise close the issue.

        ciguard finds its issues by the label, so each run would file a duplicate.

        Raises:
            TrackerError: if the label is missing.
        """
        if any(label.name == self._label for label in created.labels):
            self._index.add(created)
            return
        self._client.retry(lambda: created.edit(state="closed", state_reason="not_planned"))
        msg = (
            f"#{created.number}: GitHub dropped the label {self._label!r}, so ciguard closed the "
            "issue. The token needs `issues: write` and push access to the repository."
        )
        raise TrackerError(msg)


def _kept_issue(marked: list[Filed], name: str) -> Filed | None:
    """Return the issue to keep of those of one group.

    In this order: a silenced one filed for the group itself, the lowest open one, a silenced one of
    a single bucket, an unlocked one, any. A locked one may have become a discussion.
    """
    silenced = [filed for filed in marked if _is_silenced(filed)]
    own = [filed for filed in silenced if marked_with(filed.body or "") == name]
    opened = [filed for filed in marked if filed.state == "open" and filed not in silenced]
    unlocked = [filed for filed in marked if not filed.locked]
    return next(iter([*own, *opened, *silenced, *unlocked, *marked]), None)


def _is_silenced(filed: Filed) -> bool:
    by_label = any(label.name == IGNORE for label in filed.labels)
    return by_label or (
        filed.state == "closed" and filed.state_reason in {"not_planned", "duplicate"}
    )


def _issue(fingerprint: str, filed: Filed) -> Issue:
    return Issue(
        fingerprint=fingerprint,
        number=str(filed.number),
        is_open=filed.state == "open",
        is_silenced=_is_silenced(filed),
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
