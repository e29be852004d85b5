"""Where issues go: what the settings say, and the tracker for it."""

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
from ciguard.trackers.connection import Terms, connection
from ciguard.trackers.contract import TRACKERS
from ciguard.trackers.disclosure import ADVISORY, PUBLIC, WITHHOLD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.trackers.contract import Tracker
    from ciguard.trackers.disclosure import Discloser
    from ciguard.trackers.patience import Patience

SECURITY_TOKEN_VARIABLE = "CIGUARD_SECURITY_TOKEN"  # noqa: S105 - a name
"""Token for private places, which a workflow's own cannot write; else the same one serves."""
_PAGE = re.compile(r"https://[A-Za-z0-9.-]{1,100}(?::[0-9]{1,5})?")
_RUN = re.compile(r"[0-9]{1,20}")


def page_of_repository(environment: Mapping[str, str], repository: str = "") -> str:
    """Return the address of a repository; empty outside of a workflow of GitHub.

    Args:
        environment: of the process; GitHub's runners say in it where they belong.
        repository: which one; empty means what the environment says.
    """
    server = environment.get("GITHUB_SERVER_URL", "")
    name = repository or environment.get("GITHUB_REPOSITORY", "")
    is_known = _PAGE.fullmatch(server) and REPOSITORY.fullmatch(name)
    return f"{server}/{name}" if is_known else ""


def page_of_run(environment: Mapping[str, str], repository: str = "") -> str:
    """Return the address of the workflow's run that this process is part of; empty outside of one.

    Args:
        environment: of the process; GitHub's runners say in it which run it is.
        repository: whose run it is; empty means what the environment says.
    """
    page = page_of_repository(environment, repository)
    run = environment.get("GITHUB_RUN_ID", "")
    return f"{page}/actions/runs/{run}" if page and _RUN.fullmatch(run) else ""


def open_tracker(place: str, *, terms: Terms, patience: Patience, writes: bool = True) -> Tracker:
    """Return the tracker that a setting such as `github:owner/name` names.

    Args:
        place: the tracker's name, a colon, and its location.
        terms: labels and assignees of new issues.
        patience: how long requests may take.
        writes: whether it will be written; GitHub wants a token for that.

    Raises:
        ConfigurationError: if no tracker has that name, it cannot be there, or has no token.
    """
    name, _, location = place.partition(":")
    make = TRACKERS.get(name)
    if make is not _github:
        return make(location)
    to = connection(location, os.environ)
    if writes and not to.token:
        msg = (
            f"issues = {place!r}: no token. Set {' or '.join(TOKEN_VARIABLES)}, or see with "
            "--dry-run what would be filed."
        )
        raise ConfigurationError(msg)
    from ciguard.trackers.github import GitHubTracker

    return GitHubTracker(to, terms=terms, patience=patience)


def open_disclosure(how: str, issues: str, *, terms: Terms, patience: Patience) -> Discloser | None:
    """Return where security-relevant crashes go instead of into public issues; nothing for nowhere.

    Args:
        how: the setting `issues-security`.
        issues: the setting `issues`; advisories are drafted in that repository.
        terms: labels and assignees of new issues.
        patience: how long requests may take.

    Raises:
        ConfigurationError: if it cannot be there, or there is no token.
    """
    if not issues or how in {WITHHOLD, PUBLIC}:
        return None  # a folder is not public
    place = issues if how == ADVISORY else how
    name, _, location = place.partition(":")
    if name != "github":
        msg = f"issues-security = {how!r}: it is for GitHub. Set issues = github:owner/name."
        raise ConfigurationError(msg)
    token = os.environ.get(SECURITY_TOKEN_VARIABLE, "").strip()
    to = connection(location, os.environ)
    to = replace(to, token=token or to.token)
    if not to.token:
        msg = f"issues-security = {how!r}: no token. Set {SECURITY_TOKEN_VARIABLE}."
        raise ConfigurationError(msg)
    from ciguard.trackers.github_private import Advisories, PrivateRepository

    if how == ADVISORY:
        return Advisories(to, patience=patience)
    return PrivateRepository(to, terms=terms, patience=patience)


def _github(location: str) -> Tracker:
    from ciguard.trackers.github import GitHubTracker

    return GitHubTracker(connection(location, os.environ))


TRACKERS.register("github", _github)
