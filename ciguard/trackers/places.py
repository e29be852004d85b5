"""Creation of the tracker that the settings name, and URLs of GitHub pages."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.config import (
    TOKEN_VARIABLES,
)
from ciguard.errors import ConfigurationError
from ciguard.project import REPOSITORY
from ciguard.trackers.connection import IssueDefaults, connect
from ciguard.trackers.contract import TRACKERS
from ciguard.trackers.disclosure import ADVISORY, PUBLIC, WITHHOLD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.trackers.contract import Tracker
    from ciguard.trackers.disclosure import Discloser
    from ciguard.trackers.retry_budget import RetryBudget

SECURITY_TOKEN_VARIABLE = "CIGUARD_SECURITY_TOKEN"  # noqa: S105 - the name of a variable
"""Environment variable with a token for private places, where a workflow's token cannot write."""
_PAGE = re.compile(r"https://[A-Za-z0-9.-]{1,100}(?::[0-9]{1,5})?")
_RUN = re.compile(r"[0-9]{1,20}")


def page_of_repository(environment: Mapping[str, str], repository: str = "") -> str:
    """Return the URL of a repository; empty outside of a GitHub workflow.

    Args:
        environment: the environment variables, with those of GitHub's runners.
        repository: the repository as `owner/name`; empty for the repository of the workflow.
    """
    server = environment.get("GITHUB_SERVER_URL", "")
    name = repository or environment.get("GITHUB_REPOSITORY", "")
    is_known = _PAGE.fullmatch(server) and REPOSITORY.fullmatch(name)
    return f"{server}/{name}" if is_known else ""


def page_of_run(environment: Mapping[str, str], repository: str = "") -> str:
    """Return the URL of the workflow run of this process; empty outside of a GitHub workflow.

    Args:
        environment: the environment variables, with those of GitHub's runners.
        repository: the repository of the run as `owner/name`; empty for that of the workflow.
    """
    page = page_of_repository(environment, repository)
    run = environment.get("GITHUB_RUN_ID", "")
    return f"{page}/actions/runs/{run}" if page and _RUN.fullmatch(run) else ""


def open_tracker(
    place: str, *, defaults: IssueDefaults, retry_budget: RetryBudget, writes: bool = True
) -> Tracker:
    """Return the tracker that a setting such as `github:owner/name` names.

    Args:
        place: the tracker's name, a colon, and the tracker's location.
        defaults: the labels and assignees of new issues.
        retry_budget: the time limit of all requests.
        writes: whether issues will be written, for which GitHub needs a token.

    Raises:
        ConfigurationError: if no tracker has that name, the location is invalid, or there is no
            token.
    """
    name, _, location = place.partition(":")
    make = TRACKERS.get(name)
    if make is not _github:
        return make(location)
    connection = connect(location, os.environ)
    if writes and not connection.token:
        msg = (
            f"issues = {place!r}: there is no token. Set {' or '.join(TOKEN_VARIABLES)} to a "
            "token, or use --dry-run to see what would be filed."
        )
        raise ConfigurationError(msg)
    from ciguard.trackers.github import GitHubTracker

    return GitHubTracker(connection, defaults=defaults, retry_budget=retry_budget)


def open_disclosure(
    how: str, issues: str, *, defaults: IssueDefaults, retry_budget: RetryBudget
) -> Discloser | None:
    """Return the private place for security-relevant crashes; None if none is needed.

    Args:
        how: the value of the setting `issues-security`.
        issues: the value of the setting `issues`, whose repository gets the advisories.
        defaults: the labels and assignees of new issues.
        retry_budget: the time limit of all requests.

    Raises:
        ConfigurationError: if the place is not on GitHub, or there is no token.
    """
    if not issues or how in {WITHHOLD, PUBLIC}:
        return None  # a local folder is private, too
    place = issues if how == ADVISORY else how
    name, _, location = place.partition(":")
    if name != "github":
        msg = f"issues-security = {how!r} needs GitHub. Set issues = github:owner/name."
        raise ConfigurationError(msg)
    token = os.environ.get(SECURITY_TOKEN_VARIABLE, "").strip()
    connection = connect(location, os.environ)
    connection = replace(connection, token=token or connection.token)
    if not connection.token:
        msg = (
            f"issues-security = {how!r}: there is no token. Set {SECURITY_TOKEN_VARIABLE} to a "
            "token."
        )
        raise ConfigurationError(msg)
    from ciguard.trackers.github_private import Advisories, PrivateRepository

    if how == ADVISORY:
        return Advisories(connection, retry_budget=retry_budget)
    return PrivateRepository(connection, defaults=defaults, retry_budget=retry_budget)


def _github(location: str) -> Tracker:
    from ciguard.trackers.github import GitHubTracker

    return GitHubTracker(connect(location, os.environ))


TRACKERS.register("github", _github)
