"""A branch on GitHub, written through the REST API if rules of the repository reject a push.

A ruleset that requires signed commits rejects all commits that git creates in a job. GitHub signs
commits that a bot creates through the API without naming an author. The API's commit has the parent
and the tree of the rejected commit. The branch only moves by fast-forward, so that concurrent
changes are not lost.
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

_RULE_VIOLATION = re.compile(
    r"\bGH006\b|\bGH013\b|repository rule violations|protected branch|verified signatures"
    r"|creations being restricted|required status check|approving review|pull request",
    re.IGNORECASE,
)
_HOST_AND_PATH = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?P<path>[^/].*)", re.ASCII)
_BLOB, _ABSENT = "100644", "0" * 40
_MAX_INLINE_BYTES = 1 << 20
"""Maximum size of a file in a tree request; larger files are sent as blobs in base64."""
_MAX_REQUEST_BYTES = 4 << 20
"""Maximum size of the files in one tree request."""
_MAX_ENTRIES_PER_REQUEST = 200
_TIMEOUT_S = 60
_UNAVAILABLE_WAIT_S = 1.0
_RATE_LIMIT_WAIT_S = 60.0
"""Wait in seconds that GitHub recommends for rate limits without a `retry-after` header."""
_MAX_MESSAGE_LENGTH = 600


class BusyError(BaselineError):
    """GitHub did not move the branch, but a retry may succeed."""

    def __init__(self, message: str, *, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        """Minimum time before a retry, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubRepository:
    """A repository on GitHub, with a token for it."""

    name: str
    """Name of the repository as `owner/name`."""
    api: str
    """URL of the REST API."""
    token: str = field(repr=False)


def is_refused_by_rules(refusal: GitError) -> bool:
    """Return whether GitHub's rules, not a concurrent writer, caused the rejection of a push."""
    return _RULE_VIOLATION.search(str(refusal)) is not None


def repository_behind(url: str, environment: Mapping[str, str]) -> GitHubRepository | None:
    """Return the repository of a push URL; None if it is on another server.

    The token is sent only to the GitHub server that the environment names, not to other hosts.

    Raises:
        ConfigurationError: if the token would be sent unencrypted.
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
    if "://" not in url and (match := _HOST_AND_PATH.fullmatch(url)):
        return match["host"], match["path"]
    parts = urlsplit(url)
    return parts.hostname, parts.path


class GitHubBranch:
    """Access to one branch by the REST API, for commits of a local repository."""

    def __init__(
        self, repository: GitHubRepository, branch: str, *, refusal: GitError, location: str
    ) -> None:
        """Create access to a branch, without sending a request.

        Args:
            repository: the repository on GitHub.
            branch: name of the branch, without `refs/heads/`.
            refusal: error of the rejected push, for messages.
            location: name of the baseline in messages.

        Raises:
            BaselineError: if there is no token.
        """
        self._repository = repository
        self._branch = branch
        self._refusal = refusal
        self._location = location
        if not repository.token:
            msg = (
                f"{refusal} GitHub's API needs a token to write the branch: set "
                f"{' or '.join(TOKEN_VARIABLES)} to a token with the permission "
                f"`contents: write`. {exemption(branch)}"
            )
            raise BaselineError(msg)
        self._requester = _requester(repository)

    def create_commit(self, git: Git, commit: str, tip: str) -> str:
        """Create a copy of a local commit on GitHub, and return the hash of the copy.

        Args:
            git: git on the local repository.
            commit: hash of the local commit.
            tip: hash of the commit's parent; empty if there is none.

        Raises:
            BusyError: if GitHub does not respond, or limits the rate.
            BaselineError: if GitHub rejects the commit, or stores different files.
        """
        tree = git.text("rev-parse", f"{tip}^{{tree}}") if tip else ""
        for entries in self._batches(git, commit):
            body: dict[str, Any] = {"tree": entries} | ({"base_tree": tree} if tree else {})
            tree = self._create("trees", body)
        if tree != git.text("rev-parse", f"{commit}^{{tree}}"):
            msg = (
                f"{self._location}: GitHub's API did not store the files that were sent. Run again."
            )
            raise BaselineError(msg)
        message = git.text("log", "-1", "--format=%B", commit)
        # GitHub signs a commit only if no author is named, so that the author is the token's bot.
        parents = [tip] if tip else []
        return self._create("commits", {"message": message, "tree": tree, "parents": parents})

    def move(self, commit: str, tip: str) -> None:
        """Move the branch from `tip` to `commit`, or create it if `tip` is empty.

        Raises:
            BusyError: if another writer was faster, or GitHub did not respond.
            BaselineError: if GitHub rejects the move.
        """
        if tip:
            self._send("PATCH", f"refs/heads/{self._branch}", {"sha": commit, "force": False})
        else:
            self._send("POST", "refs", {"ref": f"refs/heads/{self._branch}", "sha": commit})

    def _batches(self, git: Git, commit: str) -> Iterator[list[Entry]]:
        """Yield the tree entries of a commit's changes, in batches for one request each."""
        batch: list[Entry] = []
        size = 0
        for entry in self._entries(git, commit):
            batch.append(entry)
            size += len(entry.get("content") or "")
            if size > _MAX_REQUEST_BYTES or len(batch) == _MAX_ENTRIES_PER_REQUEST:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _entries(self, git: Git, commit: str) -> Iterator[Entry]:
        words = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", commit)
        fields = git.text(*words).split("\0")
        for attributes, path in zip(fields[::2], fields[1::2], strict=False):
            blob = attributes.split()[3]
            entry: Entry = {"path": path, "mode": _BLOB, "type": "blob"}
            yield entry | ({"sha": None} if blob == _ABSENT else self._content(git, blob))

    def _content(self, git: Git, blob: str) -> Entry:
        content = git.raw("cat-file", "blob", blob)
        if len(content) <= _MAX_INLINE_BYTES:
            with suppress(UnicodeDecodeError):  # a binary file is sent in base64
                return {"content": content.decode("utf-8")}
        encoded = base64.b64encode(content).decode("ascii")
        return {"sha": self._create("blobs", {"content": encoded, "encoding": "base64"})}

    def _create(self, kind: str, body: Mapping[str, object]) -> str:
        sha: object = self._send("POST", kind, body)["sha"]
        return str(sha)

    def _send(self, method: str, location: str, body: Mapping[str, object]) -> dict[str, Any]:
        # Imported here, because PyGithub is slow to import.
        from github import GithubException  # noqa: PLC0415
        from requests import RequestException  # noqa: PLC0415

        address = f"/repos/{self._repository.name}/git/{location}"
        try:
            _, answer = self._requester.requestJsonAndCheck(method, address, input=dict(body))
        except GithubException as failure:
            raise self._error(failure) from None
        except RequestException as failure:
            # The exception's text is left out, because it may contain headers with the token.
            msg = f"{self._location}: GitHub cannot be reached ({type(failure).__name__})"
            raise BusyError(msg, wait_s=_UNAVAILABLE_WAIT_S) from None
        return dict(answer)

    def _error(self, failure: GithubException) -> BaselineError:
        text = self._message(failure)
        if (wait_s := _required_wait_s(failure, text)) is not None:
            return BusyError(f"{self._location}: {text}", wait_s=wait_s)
        message = (
            f"{self._refusal} GitHub's API cannot write the branch either: {text}. "
            f"{_REMEDIES.get(failure.status, '')}{exemption(self._branch)}"
        )
        # Without a rule violation, another writer may have moved the branch, so a retry may help.
        is_race = failure.status in _RACES and not _RULE_VIOLATION.search(text)
        return BusyError(message) if is_race else BaselineError(message)

    def _message(self, failure: GithubException) -> str:
        body: Any = failure.data
        message = body.get("message", "") if isinstance(body, dict) else ""
        text = " ".join(f"{failure.status} {message}".split())
        return visible(text.replace(self._repository.token, "***"), limit=_MAX_MESSAGE_LENGTH)


def permission(branch: str) -> str:
    """Return advice on how to permit writes to a branch on a server other than GitHub."""
    return (
        f"Permit this job to write the branch {branch}: exempt it from the server's protected "
        "branches or push rules, or use credentials that they allow. The branch is unchanged."
    )


def exemption(branch: str) -> str:
    """Return advice on how to permit writes to a branch on GitHub."""
    return (
        f"Exempt the branch {branch} in the repository's Settings, Rules, Rulesets (or Branches): "
        "exclude it from the branches of the rule that the message names, or add the app that "
        "writes it to the bypass list of the rule. The branch is unchanged."
    )


_RACES = (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
"""Statuses of responses if another writer moved, created or removed the branch."""
_RATE_LIMIT_STATUSES = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: f"Set {TOKEN_VARIABLES[0]} to a valid token. ",
    HTTPStatus.FORBIDDEN: "Give the token the permission `contents: write`. ",
    HTTPStatus.NOT_FOUND: "Give the token access to the repository. ",
}


def _required_wait_s(failure: GithubException, message: str) -> float | None:
    """Return the wait before a retry in seconds; None if a retry is useless."""
    if failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _UNAVAILABLE_WAIT_S
    if failure.status not in _RATE_LIMIT_STATUSES:
        return None
    headers = {name.lower(): value for name, value in (failure.headers or {}).items()}
    if headers.get("retry-after", "").isdecimal():
        return float(headers["retry-after"])
    is_limit = failure.status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in message
    return _RATE_LIMIT_WAIT_S if is_limit else None


def _requester(repository: GitHubRepository) -> Requester:
    # Imported here, because PyGithub is slow to import.
    from github import Auth, Github  # noqa: PLC0415

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
