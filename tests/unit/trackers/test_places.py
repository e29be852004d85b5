from __future__ import annotations

import pytest

from ciguard.config import PUBLIC_API
from ciguard.errors import ConfigurationError, UnknownNameError
from ciguard.trackers import Patience, Terms, open_tracker
from ciguard.trackers.places import connection, page_of_run


@pytest.mark.parametrize(
    ("location", "environment", "api"),
    [
        ("owner/name", {}, PUBLIC_API),
        ("owner/name", {"GITHUB_API_URL": ""}, PUBLIC_API),
        (
            "owner/name",
            {"GITHUB_API_URL": "https://ghe.example/api/v3"},
            "https://ghe.example/api/v3",
        ),
        ("owner/name", {"GITHUB_API_URL": "http://127.0.0.1:80"}, "http://127.0.0.1:80"),
        ("https://ghe.example/owner/name", {}, "https://ghe.example/api/v3"),
        (
            "https://ghe.example/owner/name",
            {"GITHUB_API_URL": PUBLIC_API},
            "https://ghe.example/api/v3",
        ),
        ("https://github.com/owner/name", {"GITHUB_API_URL": "https://g.example"}, PUBLIC_API),
    ],
)
def test_a_repository_is_where_the_location_or_the_runner_says(
    location: str, environment: dict[str, str], api: str
) -> None:
    found = connection(location, environment)

    assert (found.repository, found.api) == ("owner/name", api)


@pytest.mark.parametrize(
    "location",
    [
        "",
        "name",
        "owner/",
        "a/b/c",
        "owner/na me",
        "http://ghe.example/owner/name",
        "https://u@h/a/b",
    ],
)
def test_a_location_that_is_none_or_would_show_the_token_is_refused(location: str) -> None:
    with pytest.raises(ConfigurationError):
        connection(location, {"GITHUB_TOKEN": "secret"})


def test_the_token_comes_from_the_environment() -> None:
    both, second = (
        {"GITHUB_TOKEN": "one", "GH_TOKEN": "two"},
        {"GITHUB_TOKEN": "", "GH_TOKEN": "2\n"},
    )

    tokens = [connection("a/b", environment).token for environment in (both, second, {})]

    assert tokens == ["one", "2", ""]


def test_without_a_token_nothing_can_be_filed_and_it_is_told_before_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ConfigurationError, match=r"no token. Set GITHUB_TOKEN or GH_TOKEN"):
        open_tracker("github:a/b", terms=Terms(), patience=Patience(1))


def test_an_unknown_tracker_gets_the_closest_match() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'github'"):
        open_tracker("gitbub:a/b", terms=Terms(), patience=Patience(1))


def test_the_page_of_a_run_is_what_the_runner_says_and_nothing_else() -> None:
    said = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "owner/library",
        "GITHUB_RUN_ID": "71",
    }

    assert page_of_run(said) == "https://github.com/owner/library/actions/runs/71"
    assert page_of_run(said, "other/one") == "https://github.com/other/one/actions/runs/71"
    for name in said:
        assert page_of_run({**said, name: "x) [click](https://elsewhere"}) == ""
        assert page_of_run({key: text for key, text in said.items() if key != name}) == ""
