"""How every room reaches GitHub: its address and the token, both from the environment only."""

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
"""Where GitHub's token comes from, and from nowhere else."""
API_VARIABLE = "GITHUB_API_URL"
SERVER_VARIABLE = "GITHUB_SERVER_URL"


def github_token(environment: Mapping[str, str]) -> str:
    """Return GitHub's token, empty if there is none."""
    return next((environment[n] for n in TOKEN_VARIABLES if environment.get(n)), "").strip()


def require_encryption(api: str) -> None:
    """Refuse an address at which a token would travel unencrypted.

    Raises:
        ConfigurationError: if it would; the message names the host.
    """
    parts = urlsplit(api)
    is_local = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if "@" in parts.netloc or (parts.scheme != "https" and not is_local):
        msg = f"{visible(parts.hostname or api, limit=100)}: a token is sent over https only."
        raise ConfigurationError(msg)
