"""A pull request as a place for results: a check run of its head, and one comment of ours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain import visible
from ciguard.errors import ConfigurationError
from ciguard.project import REPOSITORY
from ciguard.trackers.places import connection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain import Remark
    from ciguard.trackers.patience import Patience
    from ciguard.trackers.places import Connection

GITHUB_ACTIONS = "github-actions[bot]"
"""Who writes with the token of a workflow."""
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH = re.compile(r"[^\x00-\x20\x7f]{1,255}")
_REF = re.compile(r"refs/(?:heads/[^\x00-\x20\x7f]{1,255}|pull/[1-9][0-9]{0,9}/(?:head|merge))")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _./()@=,-]{0,99}")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,60}(?:\[bot\])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a check run is about, and its name there."""

    sha: str
    name: str = "ciguard"

    def __post_init__(self) -> None:
        _require(_SHA, self.sha, "head SHA", "40 hex digits")
        _require(_NAME, self.name, "name of the check", "up to 100 letters, digits, blanks, dots")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a pull request comes from, as the event of its run reports it."""

    repository: str
    """`owner/name`, which may be a fork's."""
    branch: str
    """Of that repository; it may hold anything that git takes for a branch."""
    sha: str
    """Commit of the branch that was judged."""

    def __post_init__(self) -> None:
        _require(REPOSITORY, self.repository, "head repository", "owner/name")
        _require(_BRANCH, self.branch, "head branch", "the name of a branch")
        _require(_SHA, self.sha, "head SHA", "40 hex digits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A run as GitHub's code scanning takes it."""

    sha: str
    ref: str
    """Branch or pull request that the commit is of, such as `refs/heads/main`."""
    sarif: str
    """SARIF 2.1.0, not compressed."""

    def __post_init__(self) -> None:
        _require(_SHA, self.sha, "head SHA", "40 hex digits")
        _require(_REF, self.ref, "reference", "refs/heads/NAME or refs/pull/NUMBER/head")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check run says."""

    conclusion: str
    title: str
    summary: str
    remarks: tuple[Remark, ...] = ()
    """Those without a place are left out: the summary has them."""
    details: str = ""
    """Address of the workflow's run; empty if there is none."""


def repository_of(name: str, environment: Mapping[str, str]) -> Connection:
    """Return the connection to a repository, with the token of the environment.

    Raises:
        ConfigurationError: if it is no name of one, or the token would travel unencrypted.
    """
    _require(REPOSITORY, name, "repository", "owner/name")
    return connection(name, environment)


def pull_request_number(text: str) -> int:
    """Read the number of a pull request.

    Raises:
        ConfigurationError: if it is none.
    """
    _require(_NUMBER, text, "pull request", "its number")
    return int(text)


def _require(form: re.Pattern[str], text: str, what: str, write: str) -> None:
    if not form.fullmatch(text):
        msg = f"{visible(text, limit=100)!r}: no {what}. Write {write}."
        raise ConfigurationError(msg)


def publish_check(to: Connection, head: Head, check: Check, *, patience: Patience) -> str:
    """Create or bring up to date the check run of that name; return what was done.

    Raises:
        TrackerForbiddenError: if the token may not.
        TrackerError: if GitHub refuses, or does not answer in time.
    """
    from ciguard.trackers.github_checks import CheckRuns  # noqa: PLC0415 - PyGithub takes its time

    return CheckRuns(to, patience).publish(head, check)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """The one comment of a guard on a pull request."""

    number: int
    """Of the pull request."""
    body: str
    head: Head
    """Of the run that it tells of; `head.name` tells the guards of one repository apart."""
    author: str = GITHUB_ACTIONS
    """As whom the token writes: only comments of this account are touched."""
    is_news: bool = True
    """Whether it is worth a notification; else only a comment that is there already is changed."""

    def __post_init__(self) -> None:
        _require(_LOGIN, self.author, "account", "a login such as github-actions[bot]")


def publish_comment(to: Connection, comment: Comment, *, patience: Patience) -> str:
    """Write the comment, or bring it up to date; return what was done.

    Raises:
        TrackerForbiddenError: if the token may not.
        TrackerError: if GitHub refuses, or does not answer in time.
    """
    from ciguard.trackers.github_comment import StickyComment  # noqa: PLC0415 - likewise

    return StickyComment(to, patience).publish(comment)


def find_pull_request(to: Connection, origin: Origin, *, patience: Patience) -> int:
    """Return the number of the open pull request with exactly this head; 0 if there is none.

    Raises:
        TrackerForbiddenError: if the token may not read pull requests.
        TrackerError: if several have it, or GitHub refuses or does not answer in time.
    """
    from ciguard.trackers.github_pulls import PullRequests  # noqa: PLC0415 - likewise

    return PullRequests(to, patience).number_of(origin)


def upload_analysis(to: Connection, analysis: Analysis, *, patience: Patience) -> str:
    """Upload a run to code scanning; return what was done.

    Raises:
        TrackerForbiddenError: if the token may not, or the repository has no code scanning.
        TrackerError: if GitHub refuses, or does not answer in time.
    """
    from ciguard.trackers.github_code_scanning import CodeScanning  # noqa: PLC0415 - likewise

    return CodeScanning(to, patience).upload(analysis)
