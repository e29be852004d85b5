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
from ciguard.trackers.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from github.Issue import Issue as Filed
    from github.IssueComment import IssueComment

    from ciguard.trackers.connection import Connection

IGNORE = "ciguard:ignore"
"""A person sets it: nothing more is said in that issue."""

_NOTE = "<!-- ciguard-note -->"
_DAY = timedelta(days=1)
_SETTLE_S = 5.0
"""After a POST without an answer: until a listing would show what it did."""
_MAX_DOUBTS = 2
"""POSTs that may have been carried out though no listing shows it; the next run looks again."""
_MAX_LOOKS = 5
_MAX_NOTE = 1_000
_PATIENCE_S = 120.0


def _now() -> datetime:
    return datetime.now(UTC)


class GitHubTracker:
    """Issues of one repository.

    Two jobs may file at once: each lists before it creates and again afterwards, the lowest number
    stays, and the others are closed as duplicates of it and lose their marker.
    """

    def __init__(
        self,
        to: Connection,
        *,
        terms: Terms | None = None,
        patience: Patience | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Connect on the first request.

        Args:
            to: the repository and the token.
            terms: labels and assignees of new issues.
            patience: how long all requests together may take.
            now: the time of day.
        """
        self._client = GitHubClient(to, patience or Patience(_PATIENCE_S))
        self._terms = terms or Terms()
        self._now = now
        self._label = self._terms.label
        self._index = IssueIndex(self._client, label=self._label, now=now)
        self._has_label = False

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Take up which issue the baseline knows for which fingerprint."""
        self._index.remember(numbers)

    def find(self, *names: str) -> Issue | None:
        """Return the issue of the group with these names, open or closed, if there is one.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        # Of the list of further findings there is news in every run, so it is not searched for.
        marked = self._index.marked(names, searches=ROLL_UP not in names)
        stays = _staying(marked, names[0])
        return None if stays is None else _issue(names[0], stays)

    def open(self, report: Report) -> Issue:
        """File an issue; where the group has one, its text is replaced, its title left.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        stays = self._settled(report.names) or self._created(report)
        issue = _issue(report.fingerprint, stays)
        if not issue.is_silenced and _lines(stays.body) != _lines(report.body):
            self._edit(stays, body=report.body)
        return issue

    def comment(self, issue: Issue, text: str) -> None:
        """Say something in the issue; whoever follows it is notified once a day.

        What is said within a day of an earlier comment is added to that one. In a locked issue,
        where nobody is notified and a bot may not comment, it is added to the issue's own text.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
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
            # Another job may have said something at the same time.
            self._gather(self._notes(filed), line)
            return

    def close(self, issue: Issue, because: str) -> Issue:
        """Close the issue with a comment that says why; a closed one stays as it is.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        return self._turned(issue, because, state="closed", reason="completed")

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Open the issue again with a comment that says why; an open one stays as it is.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        return self._turned(issue, because, state="open", reason="reopened")

    def opened_since(self, moment: datetime) -> int:
        """Return how many groups got their issue at `moment` or later; the list does not count.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        filed = [issue for issue in self._index.issues() if issue.created_at >= moment]
        marks = [marked_with(issue.body or "") for issue in filed]
        return sum(bool(mark) and mark != ROLL_UP for mark in marks)

    def _turned(self, issue: Issue, because: str, *, state: str, reason: str) -> Issue:
        filed = self._known(issue)
        if filed.state != state and not _is_silenced(filed):
            # The comment first: where the second request fails, the next run still sees what to do.
            self.comment(issue, because)
            self._turn(filed, state, reason)
        return _issue(issue.fingerprint, filed)

    def _edit(self, filed: Filed, **changed: str) -> None:
        try:
            self._client.repeat(
                lambda: filed.edit(**changed),  # type: ignore[arg-type] # strings only
                issue=filed.number,
            )
        except TrackerGoneError:
            self._index.remove(filed)
            raise

    def _turn(self, filed: Filed, state: str, reason: str) -> None:
        try:
            self._edit(filed, state=state, state_reason=reason)
        except TrackerIssueError as refused:
            if state != "open" or not filed.locked or isinstance(refused, TrackerGoneError):
                raise
            # It became a discussion: closed and locked for good.
            self._index.remove(filed)
            raise TrackerGoneError(str(refused), successor_of=filed.number) from refused

    def _append(self, filed: Filed, line: str) -> None:
        if line not in _lines(filed.body):
            self._edit(filed, body=f"{(filed.body or '').rstrip()}\n\n{line}")

    def _created(self, report: Report) -> Filed:
        """Create the issue, unless another job has. Nothing is sent twice without a look."""
        self._ensure_label()
        doubts = 0
        for attempt in itertools.count():
            self._index.update()
            there = self._settled(report.names)
            if there is not None:
                return there
            if doubts == _MAX_DOUBTS:
                msg = f"{report.fingerprint}: GitHub may have filed it and does not show it yet"
                raise TrackerUnavailableError(msg)
            try:
                made = self._post(report)
            except FAILURES as failure:
                self._client.give_way(failure, attempt, least_s=_SETTLE_S)
                doubts += may_be_done(failure)
            else:
                self._require_label(made)
                self._look_until_shown(made)
                return self._settled(report.names) or made
        raise AssertionError  # `count` has no end

    def _post(self, report: Report) -> Filed:
        return self._client.repository.create_issue(
            report.title,
            report.body,
            labels=list(dict.fromkeys((self._label, *self._terms.labels))),
            assignees=list(self._terms.assignees),
        )

    def _look_until_shown(self, made: Filed) -> None:
        """List until GitHub shows our issue: then it shows what another job filed before, too."""
        for look in range(_MAX_LOOKS):
            if made.number in self._index.update():
                return
            self._client.wait(2.0**look, because=f"#{made.number} is not listed yet")

    def _settled(self, names: tuple[str, ...]) -> Filed | None:
        """Return the one issue of a group, after closing what else was filed for it."""
        marked = self._index.marked(names)
        stays = _staying(marked, names[0])
        for other in marked:
            is_left = other is stays or other.state != "open" or _is_silenced(other)
            if stays is not None and not is_left:
                self._close_as_duplicate(other, of=stays)
        return stays

    def _close_as_duplicate(self, other: Filed, *, of: Filed) -> None:
        # Without its marker nobody takes it for the group's issue again: one request does it all.
        body = f"Duplicate of #{of.number}, which is about the same cause."
        self._edit(other, body=body, state="closed", state_reason="duplicate")

    def _known(self, issue: Issue) -> Filed:
        filed = self._index.get(issue.number)
        if filed is None:
            msg = f"#{issue.number}: no issue of ciguard's in this repository"
            raise TrackerGoneError(msg)
        return filed

    def _notes(self, filed: Filed) -> list[IssueComment]:
        """Return our comments of the last day, the oldest first."""
        since = self._now() - _DAY
        comments = self._client.repeat(
            lambda: list(filed.get_comments(since=since)), issue=filed.number
        )
        return [c for c in comments if c.body.startswith(_NOTE) and c.created_at >= since]

    def _gather(self, notes: list[IssueComment], line: str) -> None:
        """Say it in the oldest note, with what other jobs said in notes of their own."""
        if not notes:
            return  # not listed yet
        first, *others = notes
        said = [_said(note) for note in others]
        missing = [
            one for one in dict.fromkeys(itertools.chain(*said, [line])) if one not in _said(first)
        ]
        if missing:
            body = "\n\n".join([first.body.rstrip(), *missing])
            self._client.repeat(lambda: first.edit(body))
        for note in others:
            self._client.repeat(partial(_delete, note))

    def _ensure_label(self) -> None:
        """Make the label, which tells at once whether the token may set one."""
        if self._has_label:
            return
        repository = self._client.repository

        def ensure() -> None:
            try:
                repository.get_label(self._label).complete()
            except UnknownObjectException:
                try:
                    repository.create_label(self._label, "b60205", "Filed by ciguard")
                except GithubException as failure:
                    if failure.status != HTTPStatus.UNPROCESSABLE_ENTITY:
                        raise  # refused as invalid means that another job has just made it

        self._client.repeat(ensure)
        self._has_label = True

    def _require_label(self, made: Filed) -> None:
        """Without its label an issue would never be found again, and filed in every run."""
        if any(label.name == self._label for label in made.labels):
            self._index.add(made)
            return
        self._client.repeat(lambda: made.edit(state="closed", state_reason="not_planned"))
        msg = (
            f"#{made.number}: GitHub dropped the label {self._label!r}, so the issue was closed "
            "again. Give the token the permission `issues: write` on a repository it may push to."
        )
        raise TrackerError(msg)


def _staying(marked: list[Filed], name: str) -> Filed | None:
    """Return the issue that stays of those of one group: the lowest open one, else the lowest.

    Where a person silenced the group's own, it stays. One that is silenced and about one of its
    buckets only, such as a duplicate, does not silence the others. A locked one may be a discussion
    by now.
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


def _said(note: IssueComment) -> list[str]:
    return [line for line in _lines(note.body) if line and line != _NOTE]


def _delete(note: IssueComment) -> None:
    try:
        note.delete()
    except UnknownObjectException:
        return  # another job has
