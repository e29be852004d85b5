"""The connection to a repository on GitHub, and the labels and assignees of its new issues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ciguard.config import API_VARIABLE, PUBLIC_API, github_token, require_encryption
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.project import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A repository on GitHub, and the token to access it."""

    repository: str
    """Name of the repository as `owner/name`."""
    api: str = PUBLIC_API
    """URL of the REST API."""
    token: str = field(default="", repr=False)
    """Token of the requests; empty for anonymous requests, which can read only public data."""
    timeout_s: int = 15
    """Timeout of one request, in seconds."""
    pause_s: float = 1.0
    """Pause between two write requests, in seconds; GitHub's secondary rate limit demands it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueDefaults:
    """The labels and assignees of new issues."""

    label: str = "ciguard"
    """Label of every filed issue, by which ciguard finds the issue again."""
    labels: tuple[str, ...] = ()
    """Other labels of new issues."""
    assignees: tuple[str, ...] = ()
    """Logins of the assignees of new issues."""


def connect(location: str, environment: Mapping[str, str]) -> Connection:
    """Return the connection to a repository, without sending a request.

    Args:
        location: `owner/name` or `https://host/owner/name`. Without a host, the variable
            GITHUB_API_URL, which GitHub's runners set, names the API.
        environment: the environment variables, with the token.

    Raises:
        ConfigurationError: if the location has another form, or its URL is not encrypted.
    """
    parts = urlsplit(location)
    name = parts.path.strip("/") if parts.scheme else location
    if not REPOSITORY.fullmatch(name):
        msg = (
            f"issues = 'github:{visible(location, limit=100)}': not a repository. Write "
            "github:owner/name, or github:https://host/owner/name for GitHub Enterprise."
        )
        raise ConfigurationError(msg)
    api = environment.get(API_VARIABLE) or PUBLIC_API
    if parts.scheme:
        host = f"{parts.scheme}://{parts.netloc}"
        api = PUBLIC_API if parts.hostname == "github.com" else f"{host}/api/v3"
    require_encryption(api)
    return Connection(repository=name, api=api.rstrip("/"), token=github_token(environment))
