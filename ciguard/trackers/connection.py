"""A repository on GitHub: where it is, and as whom it is asked."""

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
    """A repository on GitHub, and as whom issues are filed there."""

    repository: str
    """`owner/name`."""
    api: str = PUBLIC_API
    token: str = field(default="", repr=False)
    """Empty to read what everybody may read."""
    timeout_s: int = 15
    pause_s: float = 1.0
    """Between two writes, as GitHub asks for; faster ones meet its secondary limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the project wants on its issues."""

    label: str = "ciguard"
    """Of every issue that is filed; by it they are found again."""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()


def connection(location: str, environment: Mapping[str, str]) -> Connection:
    """Return where `owner/name` or `https://host/owner/name` is, and the token for it.

    Without a host the variable GITHUB_API_URL says where, which GitHub's runners set.

    Raises:
        ConfigurationError: if it is no such location, or the token would travel unencrypted.
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
