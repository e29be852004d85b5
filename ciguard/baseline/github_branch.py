"""A branch on GitHub, written through the REST API where rules of the repository refuse a push.

A ruleset that wants signed commits refuses every commit that git makes in a job. A commit that a
bot makes through the API, naming no author, is signed by GitHub. The commit is the one that would
have been pushed: the same parent and the same tree, whose hash is checked. The branch moves only if
that is a fast-forward, so whatever others have written meanwhile is never lost.
"""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ciguard.config import (
    API_VARIABLE,
    PUBLIC_API,
    PUBLIC_SERVER,
    SERVER_VARIABLE,
    TOKEN_VARIABLES,
    github_token,
    require_encryption,
)
from ciguard.domain.text import visible
from ciguard.errors import BaselineError
from ciguard.project import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from github import GithubException
    from github.Requester import Requester

    from ciguard.baseline.git_command import Git, GitError

Entry = dict[str, str | None]

_RULES = re.compile(
    r"\bGH006\b|\bGH013\b|repository rule violations|protected branch|verified signatures"
    r"|creations being restricted|required status check|approving review|pull request",
    re.IGNORECASE,
)
_HOST_AND_PATH = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?P<path>[^/].*)", re.ASCII)
_BLOB, _ABSENT = "100644", "0" * 40
_MAX_INLINE_BYTES = 1 << 20
"""Larger files become a blob of their own, in base64."""
_MAX_REQUEST_BYTES = 4 << 20
"""Of the files in one request for a tree; each GitHub counts as content that is created."""
_MAX_ENTRIES = 200
_TIMEOUT_S = 60
_UNAVAILABLE_WAIT_S = 1.0
_RATE_LIMIT_WAIT_S = 60.0
"""What GitHub asks of clients to which it names no time."""
_MAX_WORDS = 600


class BusyError(BaselineError):
    """GitHub has not moved the branch, and may the next time."""

    def __init__(self, message: str, *, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubRepository:
    """A repository on GitHub, and the token that may write it."""

    name: str
    """`owner/name`."""
    api: str
    token: str = field(repr=False)


def is_refused_by_rules(refusal: GitError) -> bool:
    """Return whether GitHub's rules, and no other writer, are why a push was refused."""
    return _RULES.search(str(refusal)) is not None


def repository_behind(url: str, environment: Mapping[str, str]) -> GitHubRepository | None:
    """Return the repository of a push URL, None if it is not on the GitHub of this environment.

    The token is for that server alone: it is sent to no host that merely stands in a URL.

    Raises:
        ConfigurationError: if the token would travel unencrypted.
    """
    host, path = _host_and_path(url)
    server = urlsplit(environment.get(SERVER_VARIABLE) or PUBLIC_SERVER).hostname
    name = path.strip("/").removesuffix(".git")
    if host != server or not REPOSITORY.fullmatch(name):
        return None
    api = environment.get(API_VARIABLE) or PUBLIC_API
    require_encryption(api)
    return GitHubRepository(name=name, api=api.rstrip("/"), token=github_token(environment))


def _host_and_path(url: str) -> tuple[str | None, str]:
    if "://" not in url and (written := _HOST_AND_PATH.fullmatch(url)):
        return written["host"], written["path"]
    parts = urlsplit(url)
    return parts.hostname, parts.path


class GitHubBranch:
    """Moves one branch to commits that exist in a local repository."""

    def __init__(
        self, repository: GitHubRepository, branch: str, *, refusal: GitError, place: str
    ) -> None:
        """Name the branch; nothing is sent yet.

        Args:
            repository: on GitHub.
            branch: its name, without `refs/heads/`.
            refusal: of the push, for messages.
            place: of the baseline, for messages.

        Raises:
            BaselineError: if there is no token.
        """
        self._repository = repository
        self._branch = branch
        self._refusal = refusal
        self._place = place
        if not repository.token:
            msg = (
                f"{refusal} GitHub's API could write it, but there is no token: set "
                f"{' or '.join(TOKEN_VARIABLES)} to one with the permission `contents: write`. "
                f"{exemption(branch)}"
            )
            raise BaselineError(msg)
        self._requester = _requester(repository)

    def create_commit(self, git: Git, commit: str, tip: str) -> str:
        """Make GitHub's own copy of a local commit, and return its name there.

        Args:
            git: of the repository that has the commit.
            commit: to copy.
            tip: its parent; empty if it has none.

        Raises:
            BusyError: if GitHub does not answer, or asks to wait.
            BaselineError: if GitHub refuses, or keeps something else.
        """
        tree = git.text("rev-parse", f"{tip}^{{tree}}") if tip else ""
        for entries in self._batches(git, commit):
            body: dict[str, Any] = {"tree": entries} | ({"base_tree": tree} if tree else {})
            tree = self._created("trees", body)
        if tree != git.text("rev-parse", f"{commit}^{{tree}}"):
            msg = f"{self._place}: GitHub's API keeps other files than it was sent. Run again."
            raise BaselineError(msg)
        message = git.text("log", "-1", "--format=%B", commit)
        # No author: GitHub signs only what a bot commits in its own name.
        parents = [tip] if tip else []
        return self._created("commits", {"message": message, "tree": tree, "parents": parents})

    def move(self, commit: str, tip: str) -> None:
        """Move the branch from `tip`, or make it if that is empty.

        Raises:
            BusyError: if another writer was faster, or GitHub does not answer: it may have moved.
            BaselineError: if GitHub refuses.
        """
        if tip:
            self._send("PATCH", f"refs/heads/{self._branch}", {"sha": commit, "force": False})
        else:
            self._send("POST", "refs", {"ref": f"refs/heads/{self._branch}", "sha": commit})

    def _batches(self, git: Git, commit: str) -> Iterator[list[Entry]]:
        """Yield what a commit changes as entries of trees, so many as one request may hold."""
        batch: list[Entry] = []
        size = 0
        for entry in self._entries(git, commit):
            batch.append(entry)
            size += len(entry.get("content") or "")
            if size > _MAX_REQUEST_BYTES or len(batch) == _MAX_ENTRIES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _entries(self, git: Git, commit: str) -> Iterator[Entry]:
        words = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", commit)
        fields = git.text(*words).split("\0")
        for about, path in zip(fields[::2], fields[1::2], strict=False):
            blob = about.split()[3]
            entry: Entry = {"path": path, "mode": _BLOB, "type": "blob"}
            yield entry | ({"sha": None} if blob == _ABSENT else self._content(git, blob))

    def _content(self, git: Git, blob: str) -> Entry:
        content = git.raw("cat-file", "blob", blob)
        if len(content) <= _MAX_INLINE_BYTES:
            with suppress(UnicodeDecodeError):  # as base64 then
                return {"content": content.decode("utf-8")}
        encoded = base64.b64encode(content).decode("ascii")
        return {"sha": self._created("blobs", {"content": encoded, "encoding": "base64"})}

    def _created(self, kind: str, body: Mapping[str, object]) -> str:
        sha: object = self._send("POST", kind, body)["sha"]
        return str(sha)

    def _send(self, method: str, place: str, body: Mapping[str, object]) -> dict[str, Any]:
        from github import GithubException  # noqa: PLC0415 - PyGithub takes its time
        from requests import RequestException  # noqa: PLC0415

        address = f"/repos/{self._repository.name}/git/{place}"
        try:
            _, answer = self._requester.requestJsonAndCheck(method, address, input=dict(body))
        except GithubException as failure:
            raise self._error(failure) from None
        except RequestException as failure:
            # Its text may hold headers.
            msg = f"{self._place}: GitHub cannot be reached ({type(failure).__name__})"
            raise BusyError(msg, wait_s=_UNAVAILABLE_WAIT_S) from None
        return dict(answer)

    def _error(self, failure: GithubException) -> BaselineError:
        words = self._words(failure)
        if (wait_s := _asked_wait_s(failure, words)) is not None:
            return BusyError(f"{self._place}: {words}", wait_s=wait_s)
        message = (
            f"{self._refusal} Nor can GitHub's API write it: {words}. "
            f"{_REMEDIES.get(failure.status, '')}{exemption(self._branch)}"
        )
        # Other words may stand for a race: then the branch has moved, and all is done again.
        is_race = failure.status in _RACES and not _RULES.search(words)
        return BusyError(message) if is_race else BaselineError(message)

    def _words(self, failure: GithubException) -> str:
        body: Any = failure.data
        message = body.get("message", "") if isinstance(body, dict) else ""
        text = " ".join(f"{failure.status} {message}".split())
        return visible(text.replace(self._repository.token, "***"), limit=_MAX_WORDS)


def permission(branch: str) -> str:
    """Return how a person lets a branch be written on a server that is not GitHub."""
    return (
        f"Let what pushes here write the branch {branch}: exempt it from the server's protected "
        "branches or push rules, or use credentials that these allow. The branch is left as it is."
    )


def exemption(branch: str) -> str:
    """Return how a person lets a branch be written on GitHub."""
    return (
        f"Exempt the branch {branch} in the repository's Settings, Rules, Rulesets (or Branches): "
        "exclude it from the targets of the rule that is named above, or put the app that writes "
        "it on the list of those that may bypass the rule. The branch is left as it is."
    )


_RACES = (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
"""A reference that is no fast-forward any longer, exists already or is gone."""
_LIMITS = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: f"Put a valid token into {TOKEN_VARIABLES[0]}. ",
    HTTPStatus.FORBIDDEN: "Give the token the permission `contents: write`. ",
    HTTPStatus.NOT_FOUND: "Give the token access to the repository. ",
}


def _asked_wait_s(failure: GithubException, words: str) -> float | None:
    """Return how long to wait before the request may be made again; None if it may not."""
    if failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _UNAVAILABLE_WAIT_S
    if failure.status not in _LIMITS:
        return None
    headers = {name.lower(): value for name, value in (failure.headers or {}).items()}
    if headers.get("retry-after", "").isdecimal():
        return float(headers["retry-after"])
    is_limit = failure.status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in words
    return _RATE_LIMIT_WAIT_S if is_limit else None


def _requester(repository: GitHubRepository) -> Requester:
    from github import Auth, Github  # noqa: PLC0415 - PyGithub takes its time

    github = Github(
        auth=Auth.Token(repository.token),
        base_url=repository.api,
        timeout=_TIMEOUT_S,
        user_agent="ciguard",
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
    )
    return github.requester
