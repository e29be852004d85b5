"""The client of one GitHub repository: PyGithub, with our own retries and error messages.

PyGithub's retries are turned off. They would repeat a POST that GitHub executed before the
connection broke. They would also sleep as long as GitHub requests, which may be half an hour.
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
    from ciguard.trackers.retry_budget import RetryBudget

T = TypeVar("T")
Failure: TypeAlias = GithubException | RequestException

FAILURES = (GithubException, RequestException)
"""Exceptions that a request to GitHub may raise."""

_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}(?:\[bot\])?")
_MAX_ATTEMPTS = 6
_SETTLE_S = 5.0
"""Wait after a POST without a response, in seconds, before a listing can show its effect."""
_MAX_UNCERTAIN_POSTS = 2
"""Maximum number of POSTs with an unknown effect."""
_SECONDARY_WAIT_S = 60.0
"""Wait at a rate limit if GitHub does not name a time, in seconds, as GitHub's documentation
recommends."""
_LIMITS = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
"""Statuses of responses at a rate limit."""


class GitHubClient:
    """The client of one repository.

    Send requests through `retry` or `create`, or call `wait_or_raise` after each failure.
    """

    def __init__(
        self, connection: Connection, retry_budget: RetryBudget, *, needs: str = "issues: write"
    ) -> None:
        """Connect on the first request.

        Args:
            connection: the repository and the token.
            retry_budget: the time limit of all requests together.
            needs: the permission that the token needs, for error messages.
        """
        self._connection = connection
        self._needs = needs
        self._retry_budget = retry_budget
        github = Github(
            auth=Auth.Token(connection.token) if connection.token else None,
            base_url=connection.api,
            timeout=connection.timeout_s,
            user_agent="ciguard",
            per_page=100,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=connection.pause_s or None,
            lazy=True,
        )
        self._github = github
        self.repository: Repository = github.get_repo(connection.repository)

    def login(self) -> str:
        """Return the login of the token's account; empty if GitHub does not reveal it.

        Raises:
            TrackerUnavailableError: if GitHub does not respond in time.
        """
        if not self._connection.token:
            return ""
        try:
            # The REST endpoint is closed to the token of a workflow.
            _, response = self.retry(
                lambda: self._github.requester.graphql_query("query { viewer { login } }", {})
            )
        except TrackerUnavailableError:
            raise
        except TrackerError:
            return ""  # older servers, and tokens without this permission
        login = response["data"]["viewer"]["login"]
        return login if isinstance(login, str) and _LOGIN.fullmatch(login) else ""

    def is_own(self, page: str, number: int) -> bool:
        """Return whether `page` is the URL of this repository's issue with that number."""
        path = urlsplit(page).path.lower()
        return path == f"/{self._connection.repository}/issues/{number}".lower()

    def retry(self, request: Callable[[], T], *, issue: int = 0) -> T:
        """Send an idempotent request until it succeeds or the budget ends.

        Args:
            request: a function that sends the request.
            issue: the number of the issue that the request concerns; 0 if it concerns the
                repository.

        Raises:
            TrackerIssueError: if GitHub rejects the request for a reason that concerns only this
                issue.
            TrackerError: if GitHub rejects the request for another reason.
            TrackerUnavailableError: if GitHub does not respond in time.
        """
        for attempt in itertools.count():
            try:
                return request()
            except FAILURES as failure:
                self.wait_or_raise(failure, attempt, issue=issue)
        raise AssertionError  # `count` never ends

    def create(self, request: Callable[[], T], find: Callable[[], T | None], *, name: str) -> T:
        """Create an object exactly once: before each retry, `find` checks whether it exists.

        Args:
            request: a function that sends the request and returns the object.
            find: a function that returns the created object, or None if GitHub does not list it.
            name: a name of the object, for messages.

        Raises:
            TrackerError: if GitHub rejects the request.
            TrackerUnavailableError: if GitHub does not respond in time, or does not list an object
                that it may have created.
        """
        uncertain_posts = 0
        for attempt in itertools.count():
            try:
                return request()
            except FAILURES as failure:
                self.wait_or_raise(failure, attempt, first_wait_s=_SETTLE_S)
                uncertain_posts += may_have_succeeded(failure)
            existing = find()
            if existing is not None:
                return existing
            if uncertain_posts == _MAX_UNCERTAIN_POSTS:
                msg = (
                    f"{name}: GitHub may have created this object, but does not list it yet. "
                    "The next run will look for it again."
                )
                raise TrackerUnavailableError(msg)
        raise AssertionError  # `count` never ends

    def wait_or_raise(
        self, failure: Failure, attempt: int, *, first_wait_s: float = 1.0, issue: int = 0
    ) -> None:
        """Wait before the next attempt, or raise an exception if a retry is useless.

        Args:
            failure: the exception of the last attempt.
            attempt: the number of earlier attempts.
            first_wait_s: the wait before the first retry, in seconds; it doubles with each retry.
            issue: the number of the issue that the request concerns; 0 if it concerns the
                repository.

        Raises:
            TrackerIssueError: if the reason concerns only this issue.
            TrackerForbiddenError: if the token lacks the permission.
            TrackerError: if a retry cannot succeed.
            TrackerUnavailableError: if there is no time for a retry.
        """
        message = self._message(failure)
        if isinstance(failure, GithubException):
            requested_s = _requested_wait_s(failure)
            if requested_s is None and issue:
                self._blame_issue(failure, issue)
            if requested_s is None and failure.status == HTTPStatus.FORBIDDEN:
                raise TrackerForbiddenError(message) from None
            if requested_s is None and failure.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise TrackerError(message) from None
        else:
            requested_s = None
        backoff_s = first_wait_s * 2**attempt
        if attempt + 1 >= _MAX_ATTEMPTS:
            backoff_s = float("inf")
        self._retry_budget.wait(max(requested_s or 0.0, backoff_s), because=message)

    def _blame_issue(self, failure: GithubException, issue: int) -> None:
        """Raise a `TrackerIssueError` if the failure concerns only this issue."""
        where = f"{self._connection.repository}#{issue}"
        response = self._without_token(_response_text(failure))
        if failure.status in _GONE and "disabled" not in response:
            msg = (
                f"{where}: the issue was deleted, transferred or converted to a discussion "
                f"({response})"
            )
            raise TrackerGoneError(msg) from None
        if is_locked(failure):
            msg = (
                f"{where}: the issue is locked, so ciguard cannot update it. Unlock the issue "
                f"({response})"
            )
            raise TrackerIssueError(msg) from None
        if failure.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            msg = f"{where}: GitHub rejects the new content ({response})"
            raise TrackerIssueError(msg) from None

    def wait(self, seconds: float, *, because: str) -> None:
        """Wait until GitHub lists a created object, or raise an exception if there is no time."""
        self._retry_budget.wait(seconds, because=f"{self._connection.repository}: {because}")

    def _message(self, failure: Failure) -> str:
        name = self._connection.repository
        if not isinstance(failure, GithubException):
            return f"{name}: GitHub cannot be reached ({type(failure).__name__})"
        response = self._without_token(_response_text(failure))
        if _requested_wait_s(failure) is not None:
            return f"{name}: GitHub's rate limit is reached ({response})"
        remedy = _REMEDIES.get(failure.status, "GitHub responded").format(needs=self._needs)
        if failure.status == HTTPStatus.FORBIDDEN and "archived" in response:
            remedy = (
                "the repository is archived; unarchive it, or set `issues` to another repository"
            )
        return f"{name}: {remedy} ({response})"

    def _without_token(self, text: str) -> str:
        return text.replace(self._connection.token, "***") if self._connection.token else text


_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: f"the token in {' or '.join(TOKEN_VARIABLES)} is invalid; "
    "create a new token",
    HTTPStatus.FORBIDDEN: "the token lacks the permission `{needs}`; grant it",
    HTTPStatus.NOT_FOUND: "no such repository, or the token cannot read it; correct `issues`, or "
    "give the token access",
    HTTPStatus.GONE: "issues are disabled; enable them in the settings of the repository, or set "
    "`issues` to another repository",
    HTTPStatus.UNPROCESSABLE_ENTITY: "GitHub rejects the issue; correct `issue-labels` or "
    "`issue-assignees`",
    HTTPStatus.MOVED_PERMANENTLY: "the repository has moved; use its new name",
    HTTPStatus.TEMPORARY_REDIRECT: "the repository has moved; use its new name",
}
"""Reason and remedy, by the status of GitHub's response."""


_GONE = (HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


def is_locked(failure: Failure) -> bool:
    """Return whether GitHub rejected a request because the issue's conversation is locked."""
    if not isinstance(failure, GithubException) or failure.status != HTTPStatus.FORBIDDEN:
        return False
    return "locked" in _response_text(failure)


def may_have_succeeded(failure: Failure) -> bool:
    """Return whether GitHub may have executed the request although it failed."""
    if isinstance(failure, GithubException):
        return failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return True


def _response_text(failure: GithubException) -> str:
    """Return the status and the messages of GitHub's response on one line."""
    body: Any = failure.data
    words = [str(failure.status)]
    if isinstance(body, dict):
        words.append(str(body.get("message", "")))
        for error in body.get("errors") or ():
            if isinstance(error, dict):
                words += [str(error.get(key, "")) for key in ("field", "code", "value", "message")]
    return visible(" ".join(filter(None, words)), limit=300)


def _requested_wait_s(failure: GithubException) -> float | None:
    """Return the wait that GitHub requests, in seconds; None if no rate limit is reached."""
    headers = {name.lower(): value for name, value in (failure.headers or {}).items()}
    if failure.status not in _LIMITS:
        return None
    if headers.get("retry-after", "").isdecimal():
        return float(headers["retry-after"])
    if headers.get("x-ratelimit-remaining") == "0":
        return _until_reset_s(headers)
    is_limit = failure.status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in _response_text(
        failure
    )
    return _SECONDARY_WAIT_S if is_limit else None


def _until_reset_s(headers: Mapping[str, str]) -> float:
    # Both times come from GitHub's clock, so that a wrong clock of this machine does not matter.
    try:
        now_s = parsedate_to_datetime(headers["date"]).timestamp()
        return max(1.0, float(headers["x-ratelimit-reset"]) - now_s)
    except (KeyError, ValueError):
        return _SECONDARY_WAIT_S
