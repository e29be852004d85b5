"""The client of one GitHub repository: PyGithub, with our own retries and error messages.

PyGithub's retries are off. They repeat a POST that GitHub executed before the connection broke, and
they sleep as long as GitHub asks, which may be half an hour inside a job.
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
"""Wait after a POST without a response, in seconds, until a listing shows its effect."""
_MAX_DOUBTS = 2
"""Limit on POSTs with an unknown effect."""
_SECONDARY_WAIT_S = 60.0
"""Wait at a rate limit for which GitHub names no time, in seconds, as its documentation asks."""
_LIMITS = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
"""Statuses of responses at a rate limit."""


class GitHubClient:
    """The client of one repository. Requests go through `retry`, or call `give_way` on failure."""

    def __init__(
        self, to: Connection, retry_budget: RetryBudget, *, needs: str = "issues: write"
    ) -> None:
        """Connect on the first request.

        Args:
            to: the repository and the token.
            retry_budget: the time limit of all requests together.
            needs: the permission that the token needs, for error messages.
        """
        self._to = to
        self._needs = needs
        self._retry_budget = retry_budget
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
        """Return the login of the token's account; empty if GitHub does not reveal it.

        Raises:
            TrackerUnavailableError: if GitHub does not respond in time.
        """
        if not self._to.token:
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
        return path == f"/{self._to.repository}/issues/{number}".lower()

    def retry(self, request: Callable[[], T], *, issue: int = 0) -> T:
        """Send an idempotent request until it succeeds or the budget ends.

        Args:
            request: a function that sends the request.
            issue: the number of the issue that it is about; 0 if it is about the repository.

        Raises:
            TrackerIssueError: if GitHub rejects it for a reason that concerns this issue only.
            TrackerError: if GitHub rejects it.
            TrackerUnavailableError: if GitHub does not respond in time.
        """
        for attempt in itertools.count():
            try:
                return request()
            except FAILURES as failure:
                self.give_way(failure, attempt, issue=issue)
        raise AssertionError  # `count` never ends

    def create(self, make: Callable[[], T], look: Callable[[], T | None], *, what: str) -> T:
        """Create something exactly once: before each retry, `look` checks whether it exists.

        Args:
            make: a function that sends the request.
            look: a function that returns the created object, or None if GitHub does not list it.
            what: a name of the object, for messages.

        Raises:
            TrackerError: if GitHub rejects it.
            TrackerUnavailableError: if GitHub does not respond in time, or does not list an object
                that it may have created.
        """
        doubts = 0
        for attempt in itertools.count():
            try:
                return make()
            except FAILURES as failure:
                self.give_way(failure, attempt, least_s=_SETTLE_S)
                doubts += may_be_done(failure)
            existing = look()
            if existing is not None:
                return existing
            if doubts == _MAX_DOUBTS:
                msg = f"{what}: GitHub may have created it but does not list it yet"
                raise TrackerUnavailableError(msg)
        raise AssertionError  # `count` never ends

    def give_way(
        self, failure: Failure, attempt: int, *, least_s: float = 1.0, issue: int = 0
    ) -> None:
        """Wait before the next attempt, or raise if there must be none.

        Args:
            failure: the exception of the last attempt.
            attempt: the number of earlier attempts.
            least_s: the wait before the first retry, in seconds; it doubles with each retry.
            issue: the number of the issue that the request is about; 0 for the repository.

        Raises:
            TrackerIssueError: if the reason concerns this issue only.
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
        backoff_s = least_s * 2**attempt
        if attempt + 1 >= _MAX_ATTEMPTS:
            backoff_s = float("inf")
        self._retry_budget.wait(max(requested_s or 0.0, backoff_s), because=message)

    def _blame_issue(self, failure: GithubException, issue: int) -> None:
        """Raise `TrackerIssueError` if the failure concerns this issue only."""
        where = f"{self._to.repository}#{issue}"
        response = self._without_token(_response_text(failure))
        if failure.status in _GONE and "disabled" not in response:
            msg = f"{where}: it was deleted, transferred or converted to a discussion ({response})"
            raise TrackerGoneError(msg) from None
        if is_locked(failure):
            msg = f"{where}: it is locked; unlock it so that ciguard can update it ({response})"
            raise TrackerIssueError(msg) from None
        if failure.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            msg = f"{where}: GitHub rejects the new content ({response})"
            raise TrackerIssueError(msg) from None

    def wait(self, seconds: float, *, because: str) -> None:
        """Wait until GitHub lists what it accepted, or raise if there is no time."""
        self._retry_budget.wait(seconds, because=f"{self._to.repository}: {because}")

    def _message(self, failure: Failure) -> str:
        name = self._to.repository
        if not isinstance(failure, GithubException):
            return f"{name}: GitHub cannot be reached ({type(failure).__name__})"
        response = self._without_token(_response_text(failure))
        if _requested_wait_s(failure) is not None:
            return f"{name}: GitHub's rate limit is reached ({response})"
        remedy = _REMEDIES.get(failure.status, "GitHub responded").format(needs=self._needs)
        if failure.status == HTTPStatus.FORBIDDEN and "archived" in response:
            remedy = "the repository is archived; unarchive it, or name another one in `issues`"
        return f"{name}: {remedy} ({response})"

    def _without_token(self, text: str) -> str:
        return text.replace(self._to.token, "***") if self._to.token else text


_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: f"the token in {' or '.join(TOKEN_VARIABLES)} is invalid; "
    "create a new one",
    HTTPStatus.FORBIDDEN: "the token lacks the permission `{needs}`; grant it",
    HTTPStatus.NOT_FOUND: "no such repository, or the token cannot read it; correct `issues`, or "
    "give the token access",
    HTTPStatus.GONE: "issues are disabled; enable them in the settings of the repository, or name "
    "another one",
    HTTPStatus.UNPROCESSABLE_ENTITY: "GitHub rejects the issue; correct `issue-labels` or "
    "`issue-assignees`",
    HTTPStatus.MOVED_PERMANENTLY: "the repository has moved; use its new name",
    HTTPStatus.TEMPORARY_REDIRECT: "the repository has moved; use its new name",
}
"""Reason and remedy, by the status of GitHub's response."""


_GONE = (HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


def is_locked(failure: Failure) -> bool:
    """Return whether a comment was refused because the issue's conversation is locked."""
    if not isinstance(failure, GithubException) or failure.status != HTTPStatus.FORBIDDEN:
        return False
    return "locked" in _response_text(failure)


def may_be_done(failure: Failure) -> bool:
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
    # Both times come from GitHub's clock, so that a wrong clock of ours does not matter.
    try:
        now_s = parsedate_to_datetime(headers["date"]).timestamp()
        return max(1.0, float(headers["x-ratelimit-reset"]) - now_s)
    except (KeyError, ValueError):
        return _SECONDARY_WAIT_S
