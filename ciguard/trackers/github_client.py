"""How GitHub is spoken to: one repository through PyGithub, and what each failure means.

PyGithub's own retries are off: they repeat a POST that GitHub had carried out before the connection
broke, and they sleep for as long as GitHub asks, half an hour inside a job.
"""

from __future__ import annotations

import itertools
import re
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from github import Auth, Github, GithubException
from requests import RequestException

from ciguard.config import TOKEN_VARIABLES
from ciguard.domain.text import visible
from ciguard.errors import (
    TrackerError,
    TrackerForbiddenError,
    TrackerGoneError,
    TrackerIssueError,
    TrackerUnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from github.Repository import Repository

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.patience import Patience

T = TypeVar("T")
Failure: TypeAlias = GithubException | RequestException

FAILURES = (GithubException, RequestException)
"""What a request to GitHub may raise."""

_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}(?:\[bot\])?")
_MAX_ATTEMPTS = 6
_SETTLE_S = 5.0
"""After a POST without an answer: until a listing would show what it did."""
_MAX_DOUBTS = 2
"""POSTs that may have been carried out though no listing shows it."""
_SECONDARY_WAIT_S = 60.0
"""What GitHub asks of those whom it tells no time."""
_LIMITS = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


class GitHubClient:
    """One repository. Every request goes through `repeat` or is followed by `give_way`."""

    def __init__(self, to: Connection, patience: Patience, *, needs: str = "issues: write") -> None:
        """Connect on the first request.

        Args:
            to: the repository and the token.
            patience: how long all requests together may take.
            needs: the permission that the token must have.
        """
        self._to = to
        self._needs = needs
        self._patience = patience
        github = Github(
            auth=Auth.Token(to.token) if to.token else None,
            base_url=to.api,
            timeout=to.timeout_s,
            user_agent="ciguard",
            per_page=100,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=to.pause_s or None,
            lazy=True,
        )
        self._github = github
        self.repository: Repository = github.get_repo(to.repository)

    def login(self) -> str:
        """Return the account that the token belongs to; empty if GitHub does not say.

        Raises:
            TrackerUnavailableError: if GitHub does not answer in time.
        """
        if not self._to.token:
            return ""
        try:
            # REST has no such question that the token of a workflow may ask.
            _, answer = self.repeat(
                lambda: self._github.requester.graphql_query("query { viewer { login } }", {})
            )
        except TrackerUnavailableError:
            raise
        except TrackerError:
            return ""  # older servers, and tokens that may file and nothing else
        login = answer["data"]["viewer"]["login"]
        return login if isinstance(login, str) and _LOGIN.fullmatch(login) else ""

    def is_own(self, page: str, number: int) -> bool:
        """Return whether that is the page of an issue of this repository with that number."""
        path = urlsplit(page).path.lower()
        return path == f"/{self._to.repository}/issues/{number}".lower()

    def repeat(self, request: Callable[[], T], *, issue: int = 0) -> T:
        """Make a request that may be made twice, until it is answered.

        Args:
            request: sends it.
            issue: number of the one issue that it is about; 0 if it is about the repository.

        Raises:
            TrackerIssueError: if GitHub refuses for a reason that lies in that issue.
            TrackerError: if GitHub refuses.
            TrackerUnavailableError: if it does not answer in time.
        """
        for attempt in itertools.count():
            try:
                return request()
            except FAILURES as failure:
                self.give_way(failure, attempt, issue=issue)
        raise AssertionError  # `count` has no end

    def create(self, make: Callable[[], T], look: Callable[[], T | None], *, what: str) -> T:
        """Make something once: after a failure nothing is sent again without a look.

        Args:
            make: sends the request.
            look: returns what was made, if GitHub shows it.
            what: is made, for messages.

        Raises:
            TrackerError: if GitHub refuses.
            TrackerUnavailableError: if it does not answer in time, or does not show what it may
                have made.
        """
        doubts = 0
        for attempt in itertools.count():
            try:
                return make()
            except FAILURES as failure:
                self.give_way(failure, attempt, least_s=_SETTLE_S)
                doubts += may_be_done(failure)
            found = look()
            if found is not None:
                return found
            if doubts == _MAX_DOUBTS:
                msg = f"{what}: GitHub may have made it and does not show it yet"
                raise TrackerUnavailableError(msg)
        raise AssertionError  # `count` has no end

    def give_way(
        self, failure: Failure, attempt: int, *, least_s: float = 1.0, issue: int = 0
    ) -> None:
        """Wait before the next attempt, where there can be one.

        Args:
            failure: what the last attempt met.
            attempt: how many there were before it.
            least_s: the shortest wait, before the first repetition.
            issue: number of the one issue that the request is about; 0 for the repository.

        Raises:
            TrackerIssueError: if the reason lies in that issue.
            TrackerForbiddenError: if the token may not do that.
            TrackerError: if trying again cannot help.
            TrackerUnavailableError: if there is no time for it.
        """
        says = self._told(failure)
        if isinstance(failure, GithubException):
            asked_s = _asked_wait_s(failure)
            if asked_s is None and issue:
                self._blame_issue(failure, issue)
            if asked_s is None and failure.status == HTTPStatus.FORBIDDEN:
                raise TrackerForbiddenError(says) from None
            if asked_s is None and failure.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise TrackerError(says) from None
        else:
            asked_s = None
        grown_s = least_s * 2**attempt
        if attempt + 1 >= _MAX_ATTEMPTS:
            grown_s = float("inf")
        self._patience.wait(max(asked_s or 0.0, grown_s), because=says)

    def _blame_issue(self, failure: GithubException, issue: int) -> None:
        """Raise if the failure is of this issue, and says nothing of the others."""
        where = f"{self._to.repository}#{issue}"
        said = self._without_token(_said(failure))
        if failure.status in _GONE and "disabled" not in said:
            msg = f"{where}: was deleted, transferred or converted to a discussion ({said})"
            raise TrackerGoneError(msg) from None
        if is_locked(failure):
            msg = f"{where}: is locked; unlock it to have it updated ({said})"
            raise TrackerIssueError(msg) from None
        if failure.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            msg = f"{where}: GitHub refuses what is to be written ({said})"
            raise TrackerIssueError(msg) from None

    def wait(self, seconds: float, *, because: str) -> None:
        """Wait for GitHub to show what it has accepted, if there is time."""
        self._patience.wait(seconds, because=f"{self._to.repository}: {because}")

    def _told(self, failure: Failure) -> str:
        name = self._to.repository
        if not isinstance(failure, GithubException):
            return f"{name}: GitHub cannot be reached ({type(failure).__name__})"
        said = self._without_token(_said(failure))
        if _asked_wait_s(failure) is not None:
            return f"{name}: GitHub's rate limit is reached ({said})"
        remedy = _REMEDIES.get(failure.status, "GitHub answers").format(needs=self._needs)
        if failure.status == HTTPStatus.FORBIDDEN and "archived" in said:
            remedy = "the repository is archived; unarchive it, or name another one in `issues`"
        return f"{name}: {remedy} ({said})"

    def _without_token(self, text: str) -> str:
        return text.replace(self._to.token, "***") if self._to.token else text


_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: f"the token in {' or '.join(TOKEN_VARIABLES)} is not accepted; "
    "make a new one",
    HTTPStatus.FORBIDDEN: "the token may not do that; give it the permission `{needs}`",
    HTTPStatus.NOT_FOUND: "no such repository, or the token may not see it; correct `issues`, or "
    "give the token access",
    HTTPStatus.GONE: "issues are disabled; enable them in the settings of the repository, or name "
    "another one",
    HTTPStatus.UNPROCESSABLE_ENTITY: "GitHub refuses what is to be filed; correct `issue-labels` "
    "or `issue-assignees`",
    HTTPStatus.MOVED_PERMANENTLY: "the repository has moved; write its new name",
    HTTPStatus.TEMPORARY_REDIRECT: "the repository has moved; write its new name",
}


_GONE = (HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


def is_locked(failure: Failure) -> bool:
    """Return whether a comment was refused because the issue's conversation is locked."""
    if not isinstance(failure, GithubException) or failure.status != HTTPStatus.FORBIDDEN:
        return False
    return "locked" in _said(failure)


def may_be_done(failure: Failure) -> bool:
    """Return whether GitHub may have carried the request out, although it did not say so."""
    if isinstance(failure, GithubException):
        return failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return True


def _said(failure: GithubException) -> str:
    """Return GitHub's own words, on one line."""
    body: Any = failure.data
    words = [str(failure.status)]
    if isinstance(body, dict):
        words.append(str(body.get("message", "")))
        for error in body.get("errors") or ():
            if isinstance(error, dict):
                words += [str(error.get(key, "")) for key in ("field", "code", "value", "message")]
    return visible(" ".join(filter(None, words)), limit=300)


def _asked_wait_s(failure: GithubException) -> float | None:
    """Return how long GitHub asks to wait; nothing if this is no matter of its rate limits."""
    headers = {name.lower(): value for name, value in (failure.headers or {}).items()}
    if failure.status not in _LIMITS:
        return None
    if headers.get("retry-after", "").isdecimal():
        return float(headers["retry-after"])
    if headers.get("x-ratelimit-remaining") == "0":
        return _until_reset_s(headers)
    is_limit = failure.status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in _said(failure)
    return _SECONDARY_WAIT_S if is_limit else None


def _until_reset_s(headers: Mapping[str, str]) -> float:
    # Both times are GitHub's, so a clock of ours that is wrong does not matter.
    try:
        now_s = parsedate_to_datetime(headers["date"]).timestamp()
        return max(1.0, float(headers["x-ratelimit-reset"]) - now_s)
    except (KeyError, ValueError):
        return _SECONDARY_WAIT_S
