"""The pull request that a fork's commit is the head of, and uploads to code scanning: real HTTP."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from github_pulls import Offered
from github_repository import NAME
from github_server import TOKEN, Fault, GitHubServer

from ciguard.errors import ConfigurationError, TrackerError, TrackerForbiddenError
from ciguard.trackers import (
    Analysis,
    Comment,
    Connection,
    Head,
    PullRequestOrigin,
    RetryBudget,
    find_pull_request,
    publish_comment,
    upload_analysis,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SHA = "a" * 40
FORK = "stranger/library"
ORIGIN = PullRequestOrigin(repository=FORK, branch="change", sha=SHA)
OFFERED = Offered(number=7, sha=SHA, repository=FORK)
ANALYSIS = Analysis(sha=SHA, ref="refs/pull/7/head", sarif='{"version": "2.1.0"}\n')


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        yield made
    assert made.violations == []


def _to(server: GitHubServer) -> Connection:
    return Connection(repository=NAME, api=server.address(), token=TOKEN, timeout_s=1, pause_s=0)


def _retry_budget(server: GitHubServer) -> RetryBudget:
    return RetryBudget(300, clock=server.clock.monotonic, sleep=server.clock.sleep)


def found(server: GitHubServer, origin: PullRequestOrigin = ORIGIN) -> int:
    return find_pull_request(_to(server), origin, retry_budget=_retry_budget(server))


def upload(server: GitHubServer, analysis: Analysis = ANALYSIS) -> str:
    return upload_analysis(_to(server), analysis, retry_budget=_retry_budget(server))


def test_the_pull_request_of_a_fork_is_found_by_its_head(server: GitHubServer) -> None:
    server.pulls.offered = [Offered(number=3, sha="b" * 40), OFFERED]

    assert found(server) == 7
    assert server.requests[0].query["head"] == "stranger:change"


@pytest.mark.parametrize(
    "other",
    [
        replace(OFFERED, sha="b" * 40),
        replace(OFFERED, state="closed"),
        replace(OFFERED, repository="stranger/another"),
        replace(OFFERED, base="owner/another"),
        replace(OFFERED, branch="another"),
    ],
    ids=["newer push", "closed", "another fork of the owner", "another base", "another branch"],
)
def test_pull_request_with_any_difference_does_not_match(
    server: GitHubServer, other: Offered
) -> None:
    server.pulls.offered = [other]

    assert found(server) == 0


def test_pull_request_of_a_deleted_fork_does_not_match(server: GitHubServer) -> None:
    server.pulls.offered = [replace(OFFERED, is_orphan=True)]

    assert found(server) == 0
    assert {text.rpartition(": ")[2] for text in server.violations} == {
        "None is not of type 'object'"
    }
    server.violations.clear()  # GitHub answers so, whatever its description says


def test_a_head_of_two_pull_requests_is_ambiguous_and_both_are_named(server: GitHubServer) -> None:
    server.pulls.offered = [OFFERED, replace(OFFERED, number=9)]

    with pytest.raises(
        TrackerError, match=r"change is the head of several pull requests \(#7, #9\)"
    ):
        found(server)


def test_a_token_that_may_not_read_pull_requests_is_named(server: GitHubServer) -> None:
    server.pulls.may_read = False

    with pytest.raises(TrackerForbiddenError, match="pull-requests: read"):
        found(server)


@pytest.mark.parametrize("branch", ["", "a b", "a\nb", "x" * 256])
def test_invalid_branch_name_is_not_sent(branch: str) -> None:
    with pytest.raises(ConfigurationError, match="not a valid head branch"):
        replace(ORIGIN, branch=branch)


def test_the_name_of_a_branch_adds_no_parameter_to_the_request(server: GitHubServer) -> None:
    hostile = replace(ORIGIN, branch="x&state=closed#../../issues")
    server.pulls.offered = [replace(OFFERED, branch=hostile.branch)]

    assert found(server, hostile) == 7
    assert server.requests[0].query["head"] == f"stranger:{hostile.branch}"


def test_an_upload_is_the_log_of_that_commit_and_reference(server: GitHubServer) -> None:
    said = upload(server)

    (analysis,) = server.code_scanning.analyses
    assert (analysis["commit_sha"], analysis["ref"]) == (SHA, "refs/pull/7/head")
    assert analysis["sarif"] == json.loads(ANALYSIS.sarif)
    assert said == f"code scanning: refs/pull/7/head at {SHA[:12]} uploaded"


def test_an_upload_that_meets_a_bad_gateway_is_repeated(server: GitHubServer) -> None:
    faults = iter([Fault.BAD_GATEWAY, Fault.LATE_BAD_GATEWAY])
    server.gate = lambda _: next(faults, None)

    upload(server)

    assert {one["ref"] for one in server.code_scanning.analyses} == {"refs/pull/7/head"}


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        (
            "Advanced Security must be enabled for this repository to use code scanning.",
            "code scanning is disabled",
        ),
        (
            "Code Security must be enabled for this repository to use code scanning.",
            "code scanning is disabled",
        ),
        (
            "Code scanning is not enabled for this repository. Please enable it in the settings.",
            "code scanning is disabled",
        ),
        ("Resource not accessible by integration", "the permission `security-events: write`"),
    ],
)
def test_rejected_upload_is_reported_with_a_remedy(
    server: GitHubServer, refusal: str, advice: str
) -> None:
    server.code_scanning.refusal = refusal

    with pytest.raises(TrackerForbiddenError, match=advice) as raised:
        upload(server)

    assert refusal.split(".", maxsplit=1)[0] in str(raised.value)


@pytest.mark.parametrize("ref", ["main", "refs/heads/", "refs/heads/a b", "refs/pull/x/head"])
def test_invalid_reference_is_rejected(ref: str) -> None:
    with pytest.raises(ConfigurationError, match="not a valid reference"):
        replace(ANALYSIS, ref=ref)


def test_comment_is_created_only_for_failures_and_then_updated(server: GitHubServer) -> None:
    server.repository.create_issue({"title": "a pull request"}, "")
    server.repository.heads[1] = SHA

    def publish(body: str, *, is_news: bool) -> str:
        said = Comment(number=1, body=body, head=Head(sha=SHA), is_news=is_news)
        return publish_comment(_to(server), said, retry_budget=_retry_budget(server))

    said = publish("nothing new", is_news=False)
    before = len(server.repository.issues[1].comments)
    publish("one new", is_news=True)
    publish("mended", is_news=False)

    assert said == "comment on #1 not posted: there is nothing to report"
    assert before == 0
    (comment,) = server.repository.issues[1].comments
    assert comment["body"].endswith("mended")
