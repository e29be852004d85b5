"""Data that are published on a pull request: check run, comment and analysis."""

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
"""Login of the account that owns the token of a workflow."""
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH = re.compile(r"[^\x00-\x20\x7f]{1,255}")
_REF = re.compile(r"refs/(?:heads/[^\x00-\x20\x7f]{1,255}|pull/[1-9][0-9]{0,9}/(?:head|merge))")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _./()@=,-]{0,99}")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,60}(?:\[bot\])?")


def require(pattern: re.Pattern[str], text: str, name: str, example: str) -> None:
    """Check that a text matches a pattern.

    Args:
        pattern: the regular expression that the whole text must match.
        text: the text to check.
        name: what the text should be, such as `head branch`, for the message.
        example: an example or description of a valid text, for the message.

    Raises:
        ConfigurationError: if the text does not match.
    """
    if not pattern.fullmatch(text):
        msg = f"{visible(text, limit=100)!r}: not a valid {name}. Write {example}."
        raise ConfigurationError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head commit of a pull request, and the name of the check."""

    sha: str
    """Head commit of the pull request."""
    name: str = "ciguard"
    """Name of the check."""

    def __post_init__(self) -> None:
        require(_SHA, self.sha, "head SHA", "40 hex digits")
        require(_NAME, self.name, "name of the check", "up to 100 letters, digits, spaces, dots")


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestOrigin:
    """The head of a pull request, as the event of its workflow run reports it."""

    repository: str
    """Repository of the head, `owner/name`, which may be a fork."""
    branch: str
    """Branch of the head repository; any name that git accepts."""
    sha: str
    """Tested commit of the branch."""

    def __post_init__(self) -> None:
        require(REPOSITORY, self.repository, "head repository", "owner/name")
        require(_BRANCH, self.branch, "head branch", "the name of a branch")
        require(_SHA, self.sha, "head SHA", "40 hex digits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """An analysis for GitHub's code scanning."""

    sha: str
    """Analysed commit."""
    ref: str
    """Ref of the branch or pull request with the commit, such as `refs/heads/main`."""
    sarif: str
    """SARIF log, version 2.1.0, not compressed."""

    def __post_init__(self) -> None:
        require(_SHA, self.sha, "head SHA", "40 hex digits")
        require(_REF, self.ref, "reference", "refs/heads/NAME or refs/pull/NUMBER/head")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The content of a check run."""

    conclusion: str
    """Conclusion in GitHub's words, such as `success` or `failure`."""
    title: str
    summary: str
    """Summary as markdown."""
    remarks: tuple[Remark, ...] = ()
    """Remarks that become annotations; remarks without a place appear only in the summary."""
    details: str = ""
    """URL of the workflow run; empty if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """ciguard's single comment on a pull request."""

    number: int
    """Number of the pull request."""
    body: str
    """Text as markdown, without the marker."""
    head: Head
    """Head that was tested; its name distinguishes the comments of several projects in one
    repository."""
    author: str = GITHUB_ACTIONS
    """Login of the token's account; comments of other accounts are never changed."""
    is_news: bool = True
    """True to create the comment if it is missing; False to update only an existing comment."""

    def __post_init__(self) -> None:
        require(_LOGIN, self.author, "account", "a login such as github-actions[bot]")
