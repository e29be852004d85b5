"""A pull request as a place for results: a check run of its head, and one comment of ours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.project import REPOSITORY
from ciguard.trackers.connection import connection
from ciguard.trackers.shown import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.patience import Patience
    from ciguard.trackers.shown import Analysis, CheckReport, Comment, Head, PullRequestOrigin

_NUMBER = re.compile(r"[1-9][0-9]{0,9}")


def repository_of(name: str, environment: Mapping[str, str]) -> Connection:
    """Return the connection to a repository, with the token of the environment.

    Raises:
        ConfigurationError: if it is no name of one, or the token would travel unencrypted.
    """
    require(REPOSITORY, name, "repository", "owner/name")
    return connection(name, environment)


def pull_request_number(text: str) -> int:
    """Read the number of a pull request.

    Raises:
        ConfigurationError: if it is none.
    """
    require(_NUMBER, text, "pull request", "its number")
    return int(text)


def publish_check(to: Connection, head: Head, check: CheckReport, *, patience: Patience) -> str:
    """Create or bring up to date the check run of that name; return what was done.

    Raises:
        TrackerForbiddenError: if the token may not.
        TrackerError: if GitHub refuses, or does not answer in time.
    """
    from ciguard.trackers.github_checks import CheckRuns

    return CheckRuns(to, patience).publish(head, check)


def publish_comment(to: Connection, comment: Comment, *, patience: Patience) -> str:
    """Write the comment, or bring it up to date; return what was done.

    Raises:
        TrackerForbiddenError: if the token may not.
        TrackerError: if GitHub refuses, or does not answer in time.
    """
    from ciguard.trackers.github_comment import StickyComment

    return StickyComment(to, patience).publish(comment)


def find_pull_request(to: Connection, origin: PullRequestOrigin, *, patience: Patience) -> int:
    """Return the number of the open pull request with exactly this head; 0 if there is none.

    Raises:
        TrackerForbiddenError: if the token may not read pull requests.
        TrackerError: if several have it, or GitHub refuses or does not answer in time.
    """
    from ciguard.trackers.github_pulls import PullRequests

    return PullRequests(to, patience).number_of(origin)


def upload_analysis(to: Connection, analysis: Analysis, *, patience: Patience) -> str:
    """Upload a run to code scanning; return what was done.

    Raises:
        TrackerForbiddenError: if the token may not, or the repository has no code scanning.
        TrackerError: if GitHub refuses, or does not answer in time.
    """
    from ciguard.trackers.github_code_scanning import CodeScanning

    return CodeScanning(to, patience).upload(analysis)
