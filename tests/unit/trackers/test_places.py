from __future__ import annotations

import pytest

from ciguard.config import PUBLIC_API
from ciguard.errors import ConfigurationError, UnknownNameError
from ciguard.trackers import Connection, IssueDefaults, RetryBudget, open_disclosure, open_tracker
from ciguard.trackers.connection import connect
from ciguard.trackers.places import page_of_run


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
def test_repository_url_comes_from_the_location_or_the_runner(
    location: str, environment: dict[str, str], api: str
) -> None:
    opened = connect(location, environment)

    assert (opened.repository, opened.api) == ("owner/name", api)


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
def test_invalid_or_unencrypted_location_is_rejected(location: str) -> None:
    with pytest.raises(ConfigurationError):
        connect(location, {"GITHUB_TOKEN": "secret"})


def test_token_comes_from_the_environment() -> None:
    both, second = (
        {"GITHUB_TOKEN": "one", "GH_TOKEN": "two"},
        {"GITHUB_TOKEN": "", "GH_TOKEN": "2\n"},
    )

    tokens = [connect("a/b", environment).token for environment in (both, second, {})]

    assert tokens == ["one", "2", ""]


def test_missing_token_is_an_error_before_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ConfigurationError, match=r"no token. Set GITHUB_TOKEN or GH_TOKEN"):
        open_tracker("github:a/b", defaults=IssueDefaults(), retry_budget=RetryBudget(1))


def test_unknown_tracker_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'github'"):
        open_tracker("gitbub:a/b", defaults=IssueDefaults(), retry_budget=RetryBudget(1))


def test_page_of_a_run_comes_only_from_the_runner() -> None:
    environment_of_run = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "owner/library",
        "GITHUB_RUN_ID": "71",
    }

    assert page_of_run(environment_of_run) == "https://github.com/owner/library/actions/runs/71"
    assert (
        page_of_run(environment_of_run, "other/one")
        == "https://github.com/other/one/actions/runs/71"
    )
    for name in environment_of_run:
        assert page_of_run({**environment_of_run, name: "x) [click](https://elsewhere"}) == ""
        assert (
            page_of_run({key: text for key, text in environment_of_run.items() if key != name})
            == ""
        )


def disclosure(how: str, issues: str = "github:owner/library") -> object:
    return open_disclosure(how, issues, defaults=IssueDefaults(), retry_budget=RetryBudget(1))


@pytest.mark.parametrize(
    ("how", "issues"),
    [("withhold", "github:a/b"), ("public", "github:a/b"), ("advisory", ""), ("github:a/b", "")],
)
def test_crashes_are_filed_in_private_only_if_configured_beside_public_issues(
    how: str, issues: str
) -> None:
    assert disclosure(how, issues) is None


def test_private_place_is_written_with_its_own_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "of the workflow")
    monkeypatch.setenv("CIGUARD_SECURITY_TOKEN", "of its own")
    given: list[Connection] = []
    monkeypatch.setattr(
        "ciguard.trackers.github_private.Advisories",
        lambda to, retry_budget: given.append(to),  # noqa: ARG005 - the name is the class's
    )

    disclosure("advisory")
    monkeypatch.delenv("CIGUARD_SECURITY_TOKEN")
    disclosure("advisory")

    assert [to.token for to in given] == ["of its own", "of the workflow"]
    assert {to.repository for to in given} == {"owner/library"}


def test_private_place_without_a_token_is_an_error_before_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "CIGUARD_SECURITY_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ConfigurationError, match=r"no token\. Set CIGUARD_SECURITY_TOKEN"):
        disclosure("github:owner/private")


@pytest.mark.parametrize("how", ["advisory", "github:owner"])
def test_private_place_outside_github_is_rejected(how: str) -> None:
    with pytest.raises(ConfigurationError, match=r"issues = github:owner/name|not a repository"):
        disclosure(how, "mine:elsewhere")
