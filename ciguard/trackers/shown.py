"""What is shown on a pull request, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.project import REPOSITORY

if TYPE_CHECKING:
    from ciguard.domain.remarks import Remark

GITHUB_ACTIONS = "github-actions[bot]"
"""Who writes with the token of a workflow."""
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH = re.compile(r"[^\x00-\x20\x7f]{1,255}")
_REF = re.compile(r"refs/(?:heads/[^\x00-\x20\x7f]{1,255}|pull/[1-9][0-9]{0,9}/(?:head|merge))")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _./()@=,-]{0,99}")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,60}(?:\[bot\])?")


def require(form: re.Pattern[str], text: str, what: str, write: str) -> None:
    """Refuse a text that has not the form of what it should be.

    Raises:
        ConfigurationError: if it has not.
    """
    if not form.fullmatch(text):
        msg = f"{visible(text, limit=100)!r}: no {what}. Write {write}."
        raise ConfigurationError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a check run is about, and its name there."""

    sha: str
    name: str = "ciguard"

    def __post_init__(self) -> None:
        require(_SHA, self.sha, "head SHA", "40 hex digits")
        require(_NAME, self.name, "name of the check", "up to 100 letters, digits, blanks, dots")


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestOrigin:
    """Where a pull request comes from, as the event of its run reports it."""

    repository: str
    """`owner/name`, which may be a fork's."""
    branch: str
    """Of that repository; it may hold anything that git takes for a branch."""
    sha: str
    """Commit of the branch that was judged."""

    def __post_init__(self) -> None:
        require(REPOSITORY, self.repository, "head repository", "owner/name")
        require(_BRANCH, self.branch, "head branch", "the name of a branch")
        require(_SHA, self.sha, "head SHA", "40 hex digits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A run as GitHub's code scanning takes it."""

    sha: str
    ref: str
    """Branch or pull request that the commit is of, such as `refs/heads/main`."""
    sarif: str
    """SARIF 2.1.0, not compressed."""

    def __post_init__(self) -> None:
        require(_SHA, self.sha, "head SHA", "40 hex digits")
        require(_REF, self.ref, "reference", "refs/heads/NAME or refs/pull/NUMBER/head")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check run says."""

    conclusion: str
    title: str
    summary: str
    remarks: tuple[Remark, ...] = ()
    """Those without a place are left out: the summary has them."""
    details: str = ""
    """Address of the workflow's run; empty if there is none."""


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
        require(_LOGIN, self.author, "account", "a login such as github-actions[bot]")
