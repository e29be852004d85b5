"""Publication of results on a pull request: a check run, a comment, and code-scanning alerts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.project import REPOSITORY
from ciguard.trackers.connection import connect
from ciguard.trackers.publication import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.publication import Analysis, CheckReport, Comment, Head, PullRequestOrigin
    from ciguard.trackers.retry_budget import RetryBudget

_NUMBER = re.compile(r"[1-9][0-9]{0,9}")


def repository_of(name: str, environment: Mapping[str, str]) -> Connection:
    """Return the connection to a repository, with the token in the environment.

    Raises:
        ConfigurationError: if the name is invalid, or the URL of the API is not encrypted.
    """
    require(REPOSITORY, name, "repository", "owner/name")
    return connect(name, environment)


def pull_request_number(text: str) -> int:
    """Parse the number of a pull request.

    Raises:
        ConfigurationError: if the text is not a number.
    """
    require(_NUMBER, text, "pull request", "its number")
    return int(text)


def publish_check(
    connection: Connection, head: Head, check: CheckReport, *, retry_budget: RetryBudget
) -> str:
    """Create or update the check run of the head; return a sentence about what was done.

    Raises:
        TrackerForbiddenError: if the token lacks the permission.
        TrackerError: if GitHub rejects the request or does not respond in time.
    """
    from ciguard.trackers.github_checks import CheckRuns

    return CheckRuns(connection, retry_budget).publish(head, check)


def publish_comment(connection: Connection, comment: Comment, *, retry_budget: RetryBudget) -> str:
    """Create or update the comment; return a sentence about what was done.

    Raises:
        TrackerForbiddenError: if the token lacks the permission.
        TrackerError: if GitHub rejects the request or does not respond in time.
    """
    from ciguard.trackers.github_comment import StickyComment

    return StickyComment(connection, retry_budget).publish(comment)


def find_pull_request(
    connection: Connection, origin: PullRequestOrigin, *, retry_budget: RetryBudget
) -> int:
    """Return the number of the open pull request with exactly this head; 0 if there is none.

    Raises:
        TrackerForbiddenError: if the token cannot read pull requests.
        TrackerError: if there are several such pull requests, or GitHub rejects the request or does
            not respond in time.
    """
    from ciguard.trackers.github_pulls import PullRequests

    return PullRequests(connection, retry_budget).number_of(origin)


def upload_analysis(
    connection: Connection, analysis: Analysis, *, retry_budget: RetryBudget
) -> str:
    """Upload an analysis to code scanning; return a sentence about what was done.

    Raises:
        TrackerForbiddenError: if the token lacks the permission, or code scanning is off.
        TrackerError: if GitHub rejects the request or does not respond in time.
    """
    from ciguard.trackers.github_code_scanning import CodeScanning

    return CodeScanning(connection, retry_budget).upload(analysis)
