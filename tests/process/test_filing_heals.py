"""Filing on GitHub heals itself: lost baselines, renamed labels, issues that are gone or locked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from filing_project import bucket, known
from filing_repository import Repository
from github_server import GRAPHQL, Fault, GitHubServer

from ciguard.errors import TrackerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from github_server import Request


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        yield made
    assert made.violations == []


@pytest.fixture
def repository(tmp_path: Path, server: GitHubServer) -> Repository:
    made = Repository(tmp_path, server)
    made.run()
    return made


def test_open_issue_is_adopted_after_a_lost_baseline(repository: Repository) -> None:
    repository.run(bucket())
    repository.lose_baseline()

    says = repository.run(bucket())
    again = repository.run(known())

    assert repository.states() == {1: "open"}
    assert repository.known_issues() == {"1"}
    assert says == [f"1: {repository.server.repository.issues[1].latest['title']}"]
    assert again == []


def test_closed_issue_is_reopened_after_a_lost_baseline(repository: Repository) -> None:
    repository.run(bucket())
    repository.server.repository.edit_issue(1, {"state": "closed", "state_reason": "completed"}, "")
    repository.lose_baseline()

    repository.run(bucket())

    assert repository.states() == {1: "open"}


def test_silenced_issue_stays_closed_after_a_lost_baseline(repository: Repository) -> None:
    repository.run(bucket())
    silenced = {"state": "closed", "state_reason": "not_planned"}
    repository.server.repository.edit_issue(1, silenced, "")
    repository.lose_baseline()

    repository.run(bucket())
    repository.run(known())

    assert repository.states() == {1: "closed"}
    assert repository.known_issues() == {"1"}


def test_adopted_issues_do_not_count_for_the_limit(repository: Repository) -> None:
    names = [f"torch.f{number}" for number in range(5)]
    repository.run(*map(bucket, names))
    repository.lose_baseline()
    repository.project.rules = replace(repository.project.rules, cap=0)

    repository.run(*map(bucket, names))

    assert repository.states() == dict.fromkeys(range(1, 6), "open")
    assert repository.known_issues() == set("12345")


def test_a_lost_baseline_and_a_renamed_label_open_no_second_issue(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(bucket())
    server.repository.rename_label("ciguard", "fuzzing")
    repository.lose_baseline()

    repository.run(bucket())

    assert repository.states() == {1: "open"}
    assert repository.known_issues() == {"1"}


def test_a_bug_that_comes_back_opens_its_issue_although_the_label_was_deleted(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(bucket())
    repository.fix("torch.fold")
    assert repository.states() == {1: "closed"}
    server.repository.delete_label("ciguard")
    server.repository.writer = "octocat"

    repository.run(bucket())

    assert repository.states() == {1: "open"}


@pytest.mark.parametrize("way", ["deleted", "transferred"])
def test_deleted_known_issue_is_reported_and_not_filed_again(
    repository: Repository, server: GitHubServer, way: str
) -> None:
    repository.run(bucket())
    if way == "deleted":
        server.repository.gone.add(1)
    else:
        server.repository.transferred[1] = 7

    says = repository.run(known())

    (warning,) = says
    assert warning.startswith("warning: 1 known issue is missing (1): deleted, transferred, or ")
    assert "filed again only if the bug returns after a fix" in warning
    assert list(server.repository.issues) == [1]


def test_unresponsive_tracker_does_not_report_missing_issues(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(bucket())
    server.gate = lambda _: Fault.PRIMARY_LIMIT

    says = repository.run(known())

    assert not any("gone" in line for line in says)


def test_locked_issues_that_come_back_together_keep_no_new_crash_from_being_filed(
    repository: Repository, server: GitHubServer
) -> None:
    names = ["torch.a", "torch.b", "torch.c"]
    repository.run(*map(bucket, names))
    repository.fix(*names)
    server.repository.locked |= {1, 2, 3}

    says = repository.run(*map(bucket, names), bucket("torch.new"))

    assert repository.states() == dict.fromkeys(range(1, 5), "open")
    assert len(says) == 4
    for number in (1, 2, 3):
        assert "Seen again on" in server.repository.issues[number].latest["body"]


def test_discussions_that_were_issues_keep_no_new_crash_from_being_filed(
    repository: Repository, server: GitHubServer
) -> None:
    names = ["torch.a", "torch.b", "torch.c"]
    repository.run(*map(bucket, names))
    repository.fix(*names)
    for number in (1, 2, 3):
        server.repository.convert_to_discussion(number)

    repository.run(*map(bucket, names), bucket("torch.new"))

    titles = {n: s.latest["title"] for n, s in server.repository.issues.items() if n > 3}
    apis = sorted(title.partition(":")[0] for title in titles.values())
    assert apis == [*names, "torch.new"]
    closed, opened = dict.fromkeys((1, 2, 3), "closed"), dict.fromkeys(range(4, 8), "open")
    assert repository.states() == closed | opened
    bodies = [server.repository.issues[n].latest["body"] for n in range(4, 8)]
    assert [f"Earlier issue: #{n}." in "".join(bodies) for n in (1, 2, 3)] == [True] * 3


def test_the_successor_of_an_issue_that_cannot_be_opened_again_is_the_bucket_s_issue(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(bucket())
    repository.fix("torch.fold")
    server.repository.convert_to_discussion(1)
    repository.run(bucket())
    repository.fix("torch.fold")
    after_fix = repository.states()

    repository.run(bucket())

    assert after_fix == {1: "closed", 2: "closed"}
    assert repository.states() == {1: "closed", 2: "open"}


@pytest.mark.parametrize("way", ["deleted", "transferred"])
def test_deleted_issues_whose_bugs_return_are_filed_again_beside_a_new_crash(
    repository: Repository, server: GitHubServer, way: str
) -> None:
    names = ["torch.a", "torch.b", "torch.c"]
    repository.run(*map(bucket, names))
    repository.fix(*names)
    if way == "deleted":
        server.repository.gone |= {1, 2, 3}
    else:
        server.repository.transferred |= {1: 7, 2: 8, 3: 9}

    repository.run(*map(bucket, names), bucket("torch.new"))

    assert {n for n, state in repository.states().items() if state == "open"} == {4, 5, 6, 7}


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("has_issues", False, "issues are disabled; enable them"),
        ("is_archived", True, "the repository is archived; unarchive it"),
    ],
)
def test_a_repository_that_takes_no_issues_is_named_and_nothing_is_lost(
    repository: Repository, server: GitHubServer, attribute: str, *, value: bool, message: str
) -> None:
    setattr(server.repository, attribute, value)
    with pytest.raises(TrackerError, match=message):
        repository.run(bucket())
    setattr(server.repository, attribute, not value)

    repository.run(known())

    assert repository.states() == {1: "open"}


def test_disabled_issues_do_not_count_as_deleted(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(bucket())
    repository.fix("torch.fold")
    server.repository.delete_label("ciguard")
    server.repository.has_issues = False

    with pytest.raises(TrackerError, match="issues are disabled; enable them"):
        repository.run(bucket())


def test_our_account_is_asked_for_once_and_only_where_the_label_shows_no_issue(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(bucket())
    server.requests.clear()
    asked: list[Request] = server.requests

    repository.run(known())

    assert [request for request in asked if request.path == GRAPHQL] == []
