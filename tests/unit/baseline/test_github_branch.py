"""Which repository on GitHub a remote is."""

from __future__ import annotations

import pytest

from ciguard.baseline.github_branch import repository_behind
from ciguard.errors import ConfigurationError

ENTERPRISE = {
    "GITHUB_SERVER_URL": "https://g.example",
    "GITHUB_API_URL": "https://g.example/api/v3",
}


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        ("https://github.com/owner/name", {}, ("owner/name", "https://api.github.com")),
        ("https://github.com/owner/name.git", {}, ("owner/name", "https://api.github.com")),
        ("https://x@github.com/owner/name/", {}, ("owner/name", "https://api.github.com")),
        ("git@github.com:owner/name.git", {}, ("owner/name", "https://api.github.com")),
        ("ssh://git@github.com/owner/name", {}, ("owner/name", "https://api.github.com")),
        ("https://g.example/o/n", ENTERPRISE, ("o/n", "https://g.example/api/v3")),
        ("https://github.com/owner/name", ENTERPRISE, None),
        ("https://github.com.example/owner/name", {}, None),
        ("https://github.com@evil.example/owner/name", {}, None),
        ("https://evil.example/github.com/owner/name", {}, None),
        ("github.com.evil.example:owner/name", {}, None),
        ("https://github.com/owner", {}, None),
        ("https://github.com/owner/name/../other", {}, None),
        ("/srv/owner/name.git", {}, None),
        ("file:///owner/name", {}, None),
    ],
)
def test_repository_behind_accepts_only_the_environments_server(
    url: str, environment: dict[str, str], expected: tuple[str, str] | None
) -> None:
    repository = repository_behind(url, {**environment, "GH_TOKEN": "t"})

    assert (repository and (repository.name, repository.api)) == expected
    assert "t" not in repr(repository).replace("token", "").split("'")


def test_repository_behind_without_encryption_raises() -> None:
    with pytest.raises(ConfigurationError, match="only over https"):
        repository_behind("https://github.com/o/n", {"GITHUB_API_URL": "http://api.example"})
