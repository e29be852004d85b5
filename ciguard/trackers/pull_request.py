"""Publish results on a pull request: a check run, a comment, and code scanning alerts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.project import REPOSITORY
from ciguard.trackers.connection import connection
from ciguard.trackers.shown import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.retry_budget import RetryBudget
    from ciguard.trackers.shown import Analysis, CheckReport, Comment, Head, PullRequestOrigin

_NUMBER = re.compile(r"[1-9][0-9]{0,9}")


def repository_of(name: str, environment: Mapping[str, str]) -> Connection:
    """Return the connection to a repository, with the token in the environment.

    Raises:
        ConfigurationError: if the name is invalid, or the URL of the API is not encrypted.
    """
    require(REPOSITORY, name, "repository", "owner/name")
    return connection(name, environment)


def pull_request_number(text: str) -> int:
    """Parse the number of a pull request.

    Raises:
        ConfigurationError: if the text is not a number.
    """
    require(_NUMBER, text, "pull request", "its number")
    return int(text)


def publish_check(
    to: Connection, head: Head, check: CheckReport, *, retry_budget: RetryBudget
) -> str:
    """Create or update the check run of that name; return what was done.

    Raises:
        TrackerForbiddenError: if the token lacks the permission.
        TrackerError: if GitHub rejects the request or does not respond in time.
    """
    from ciguard.trackers.github_checks import CheckRuns

    return CheckRuns(to, retry_budget).publish(head, check)


def publish_comment(to: Connection, comment: Comment, *, retry_budget: RetryBudget) -> str:
    """Create or update the comment; return what was done.

    Raises:
        TrackerForbiddenError: if the token lacks the permission.
        TrackerError: if GitHub rejects the request or does not respond in time.
    """
    from ciguard.trackers.github_comment import StickyComment

    return StickyComment(to, retry_budget).publish(comment)


def find_pull_request(
    to: Connection, origin: PullRequestOrigin, *, retry_budget: RetryBudget
) -> int:
    """Return the number of the open pull request with exactly this head; 0 if there is none.

    Raises:
        TrackerForbiddenError: if the token cannot read pull requests.
        TrackerError: if there are several, or GitHub rejects the request or does not respond in
            time.
    """
    from ciguard.trackers.github_pulls import PullRequests

    return PullRequests(to, retry_budget).number_of(origin)


def upload_analysis(to: Connection, analysis: Analysis, *, retry_budget: RetryBudget) -> str:
    """Upload a run to code scanning; return what was done.

    Raises:
        TrackerForbiddenError: if the token lacks the permission, or code scanning is off.
        TrackerError: if GitHub rejects the request or does not respond in time.
    """
    from ciguard.trackers.github_code_scanning import CodeScanning

    return CodeScanning(to, retry_budget).upload(analysis)
