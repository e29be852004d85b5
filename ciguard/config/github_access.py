"""Access to GitHub: URLs and token, which come only from environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

PUBLIC_SERVER = "https://github.com"
PUBLIC_API = "https://api.github.com"
TOKEN_VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN")
"""Environment variables with the token for GitHub, in the order of precedence. The token has no
other source."""
API_VARIABLE = "GITHUB_API_URL"
SERVER_VARIABLE = "GITHUB_SERVER_URL"


def github_token(environment: Mapping[str, str]) -> str:
    """Return the token for GitHub; empty if there is none."""
    return next(filter(None, map(environment.get, TOKEN_VARIABLES)), "").strip()


def require_encryption(api: str) -> None:
    """Check that a token is sent encrypted, unless the server is on this machine.

    Args:
        api: the URL of GitHub's API.

    Raises:
        ConfigurationError: if the token would be sent unencrypted; the message names the host.
    """
    parts = urlsplit(api)
    is_local = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if "@" in parts.netloc or (parts.scheme != "https" and not is_local):
        host = visible(parts.hostname or api, limit=100)
        msg = f"{host}: ciguard sends tokens only over https. Set {API_VARIABLE} to an https URL."
        raise ConfigurationError(msg)
