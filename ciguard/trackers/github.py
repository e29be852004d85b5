"""Issues on GitHub. Found by label and marker, never by search, which lags behind by minutes."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from github import GithubException, UnknownObjectException
from github.GithubObject import NotSet

from ciguard.domain import markdown_text
from ciguard.errors import TrackerError, TrackerGoneError, TrackerUnavailableError
from ciguard.trackers.contract import ROLL_UP, Issue, Report, marked_with
from ciguard.trackers.github_client import FAILURES, Client, is_locked, may_be_done
from ciguard.trackers.patience import Patience
from ciguard.trackers.places import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from github.Issue import Issue as Filed
    from github.IssueComment import IssueComment

    from ciguard.trackers.places import Connection

LABEL = "ciguard"
"""Of every issue that ciguard files; the listing is restricted to it."""
IGNORE = "ciguard:ignore"
"""A person sets it: nothing more is said in that issue."""

_NOTE = "<!-- ciguard-note -->"
_DAY = timedelta(days=1)
_OVERLAP = timedelta(hours=1)
"""How far two clocks and GitHub's replicas may be apart."""
_SETTLE_S = 5.0
"""After a POST without an answer: until a listing would show what it did."""
_MOST_DOUBTS = 2
"""POSTs that may have been carried out though no listing shows it; the next run looks again."""
_MOST_LOOKS = 5
_MOST_NOTE = 1_000
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
        self._client = Client(to, patience or Patience(_PATIENCE_S))
        self._terms = terms or Terms()
        self._now = now
        self._filed: dict[int, Filed] = {}
        self._listed: datetime | None = None
        self._has_label = False

    def find(self, fingerprint: str) -> Issue | None:
        """Return the issue of that bucket, open or closed, if there is one.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        if self._listed is None:
            self._list()
        stays = _staying(self._marked((fingerprint,)))
        return None if stays is None else _issue(fingerprint, stays)

    def open(self, report: Report) -> Issue:
        """File an issue; where the bucket has one, its text is replaced, its title left.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        if self._listed is None:
            self._list()
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
        line = markdown_text(text, limit=_MOST_NOTE)
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
        """Return how many buckets got their issue at `moment` or later; the list does not count.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        if self._listed is None:
            self._list()
        marks = [marked_with(f.body or "") for f in self._filed.values() if f.created_at >= moment]
        return sum(bool(mark) and mark != ROLL_UP for mark in marks)

    def _turned(self, issue: Issue, because: str, *, state: str, reason: str) -> Issue:
        filed = self._known(issue)
        if filed.state != state and not _is_silenced(filed):
            # The comment first: where the second request fails, the next run still sees what to do.
            self.comment(issue, because)
            self._edit(filed, state=state, state_reason=reason)
        return _issue(issue.fingerprint, filed)

    def _edit(self, filed: Filed, **changed: str) -> None:
        try:
            self._client.repeat(
                lambda: filed.edit(**changed),  # type: ignore[arg-type] # strings only
                issue=filed.number,
            )
        except TrackerGoneError:
            self._filed.pop(filed.number, None)
            raise

    def _append(self, filed: Filed, line: str) -> None:
        if line not in _lines(filed.body):
            self._edit(filed, body=f"{(filed.body or '').rstrip()}\n\n{line}")

    def _created(self, report: Report) -> Filed:
        """Create the issue, unless another job has. Nothing is sent twice without a look."""
        self._ensure_label()
        doubts = 0
        for attempt in itertools.count():
            self._list()
            there = self._settled(report.names)
            if there is not None:
                return there
            if doubts == _MOST_DOUBTS:
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
            labels=list(dict.fromkeys((LABEL, *self._terms.labels))),
            assignees=list(self._terms.assignees),
        )

    def _look_until_shown(self, made: Filed) -> None:
        """List until GitHub shows our issue: then it shows what another job filed before, too."""
        for look in range(_MOST_LOOKS):
            if made.number in self._list():
                return
            self._client.wait(2.0**look, because=f"#{made.number} is not listed yet")

    def _settled(self, names: tuple[str, ...]) -> Filed | None:
        """Return the one issue of a bucket, after closing what else was filed for it."""
        marked = self._marked(names)
        stays = _staying(marked)
        for other in marked:
            if stays is not None and other is not stays and other.state == "open":
                self._close_as_duplicate(other, of=stays)
        return stays

    def _close_as_duplicate(self, other: Filed, *, of: Filed) -> None:
        # Without its marker nobody takes it for the bucket's issue again: one request does it all.
        body = f"Duplicate of #{of.number}: two jobs filed at once."
        self._edit(other, body=body, state="closed", state_reason="duplicate")

    def _list(self) -> set[int]:
        """Take up what was filed or changed since the last listing; return the numbers."""
        began = self._now()
        since = NotSet if self._listed is None else self._listed - _OVERLAP
        listed = self._client.repeat(
            lambda: list(
                self._client.repository.get_issues(
                    state="all", labels=[LABEL], sort="created", direction="asc", since=since
                )
            )
        )
        self._listed = began
        # Asking whether it is a pull request would be one more request for each.
        self._filed |= {f.number: f for f in listed if "/pull/" not in f.html_url}
        return {filed.number for filed in listed}

    def _marked(self, names: Iterable[str]) -> list[Filed]:
        wanted = set(names)
        return [f for _, f in sorted(self._filed.items()) if marked_with(f.body or "") in wanted]

    def _known(self, issue: Issue) -> Filed:
        if self._listed is None:
            self._list()
        number = int(issue.number) if issue.number.isdecimal() else 0
        if number not in self._filed:
            msg = f"#{issue.number}: no issue with the label {LABEL!r} in this repository"
            raise TrackerError(msg)
        return self._filed[number]

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
                repository.get_label(LABEL).complete()
            except UnknownObjectException:
                try:
                    repository.create_label(LABEL, "b60205", "Filed by ciguard")
                except GithubException as failure:
                    if failure.status != HTTPStatus.UNPROCESSABLE_ENTITY:
                        raise  # refused as invalid means that another job has just made it

        self._client.repeat(ensure)
        self._has_label = True

    def _require_label(self, made: Filed) -> None:
        """Without its label an issue would never be found again, and filed in every run."""
        if any(label.name == LABEL for label in made.labels):
            self._filed[made.number] = made
            return
        self._client.repeat(lambda: made.edit(state="closed", state_reason="not_planned"))
        msg = (
            f"#{made.number}: GitHub dropped the label {LABEL!r}, so the issue was closed again. "
            "Give the token the permission `issues: write` on a repository it may push to."
        )
        raise TrackerError(msg)


def _staying(marked: list[Filed]) -> Filed | None:
    """Return the issue that stays of those of one bucket: the lowest open one, else the lowest.

    Where a person silenced one of them, it stays.
    """
    silenced = [filed for filed in marked if _is_silenced(filed)]
    opened = [filed for filed in marked if filed.state == "open"]
    return next(iter([*silenced, *opened, *marked]), None)


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
