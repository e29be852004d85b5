"""A check run and a comment on a GitHub that fails, refuses and forgets: real HTTP."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from github_repository import NAME
from github_server import TOKEN, Fault, GitHubServer

from ciguard.domain.plan import Place
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.errors import (
    ConfigurationError,
    TrackerError,
    TrackerForbiddenError,
    TrackerUnavailableError,
)
from ciguard.trackers import (
    CheckReport,
    Comment,
    Connection,
    Head,
    RetryBudget,
    publish_check,
    publish_comment,
    pull_request_number,
    repository_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from github_server import Request

HEAD = Head(sha="a" * 40)
CHECKS = f"/repos/{NAME}/check-runs"
COMMENTS = f"/repos/{NAME}/issues/1/comments"
FAULTS = [fault for fault in Fault if fault is not Fault.PRIMARY_LIMIT]


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        made.repository.create_issue({"title": "a pull request"}, "")
        made.repository.heads[1] = HEAD.sha
        yield made
    assert made.violations == []


def failing(method: str, faults: Iterable[Fault | None]) -> Callable[[Request], Fault | None]:
    """Return a gate that fails the requests with that method one after the other."""
    remaining = iter(faults)
    return lambda request: next(remaining, None) if request.method == method else None


def remark(number: int) -> Remark:
    return Remark(
        level=list(RemarkLevel)[number % 3],
        title=f"NEW crash: torch.f{number}",
        message="it died",
        place=Place(path="model/net.py", line=number + 1),
    )


def check(count: int = 3, *, title: str = "NEW FINDINGS: 3 new") -> CheckReport:
    said = tuple(map(remark, range(count)))
    return CheckReport(conclusion="failure", title=title, summary="# ciguard", remarks=said)


def publish(
    server: GitHubServer, said: CheckReport, head: Head = HEAD, budget_s: float = 300
) -> str:
    clock = server.clock
    retry_budget = RetryBudget(budget_s, clock=clock.monotonic, sleep=clock.sleep)
    return publish_check(_to(server), head, said, retry_budget=retry_budget)


def comment(server: GitHubServer, body: str = "the body", head: Head = HEAD) -> str:
    clock = server.clock
    retry_budget = RetryBudget(300, clock=clock.monotonic, sleep=clock.sleep)
    return publish_comment(
        _to(server), Comment(number=1, body=body, head=head), retry_budget=retry_budget
    )


def _to(server: GitHubServer) -> Connection:
    return Connection(repository=NAME, api=server.address(), token=TOKEN, timeout_s=1, pause_s=0)


def shown(server: GitHubServer, at: int = 0) -> tuple[str, str | None, list[int]]:
    """Return status, conclusion and the lines of the annotations of a check run."""
    run = server.checks.runs[at]
    lines = [one["start_line"] for one in server.checks.annotations[run["id"]]]
    return run["status"], run["conclusion"], lines


def comments(server: GitHubServer) -> list[str]:
    return [one["body"] for one in server.repository.issues[1].comments]


def test_a_check_run_has_the_verdict_and_an_annotation_per_remark(server: GitHubServer) -> None:
    said = publish(server, check())

    assert said == "check run 'ciguard' created: failure, 3 annotations"
    assert shown(server) == ("completed", "failure", [1, 2, 3])
    assert server.checks.runs[0]["output"]["title"] == "NEW FINDINGS: 3 new"
    levels = [one["annotation_level"] for one in server.checks.annotations[5_000]]
    assert levels == ["failure", "warning", "notice"]


def test_many_annotations_are_sent_by_fifties_and_the_verdict_comes_last(
    server: GitHubServer,
) -> None:
    publish(server, check(120))

    bodies = [r.body for r in server.requests if r.method == "PATCH"]
    assert [len(body["output"]["annotations"]) for body in bodies] == [50, 50, 20]
    assert [body.get("conclusion") for body in bodies] == [None, None, "failure"]
    assert shown(server)[2] == list(range(1, 121))


def test_excess_annotations_are_omitted_and_counted(server: GitHubServer) -> None:
    publish(server, check(620))

    assert len(shown(server)[2]) == 500
    assert "120 more annotations are omitted" in server.checks.runs[0]["output"]["summary"]


def test_a_remark_without_a_place_is_no_annotation(server: GitHubServer) -> None:
    said = CheckReport(
        conclusion="neutral",
        title="t",
        summary="s",
        remarks=(Remark(level=RemarkLevel.WARNING, title="ciguard", message="stale"),),
    )

    publish(server, said)

    assert shown(server) == ("completed", "neutral", [])


def test_publishing_again_writes_nothing(server: GitHubServer) -> None:
    publish(server, check(60))
    server.requests.clear()

    assert publish(server, check(60)) == "check run 'ciguard' is up to date"

    assert {request.method for request in server.requests} == {"GET"}


def test_additional_annotations_are_added_to_the_same_check_run(server: GitHubServer) -> None:
    publish(server, check(3))

    publish(server, check(5, title="NEW FINDINGS: 5 new"))

    assert len(server.checks.runs) == 1
    assert shown(server)[2] == [1, 2, 3, 4, 5]
    assert server.checks.runs[0]["output"]["title"] == "NEW FINDINGS: 5 new"


def test_older_conclusion_is_replaced(server: GitHubServer) -> None:
    publish(server, CheckReport(conclusion="success", title="NOTHING NEW: 0 new", summary="s"))
    server.gate = failing("PATCH", [None, *itertools.repeat(Fault.BAD_GATEWAY, 50)])

    with pytest.raises(TrackerUnavailableError):
        publish(server, check(90), budget_s=20)

    assert len(server.checks.runs) == 1
    assert shown(server)[:2] == ("in_progress", None)


def test_obsolete_annotations_stay_with_the_old_check_run(
    server: GitHubServer,
) -> None:
    publish(server, check(5))

    publish(server, check(2))

    assert [shown(server, at)[2] for at in range(2)] == [[1, 2, 3, 4, 5], [1, 2]]


def test_a_job_of_the_same_name_and_other_heads_are_left_alone(server: GitHubServer) -> None:
    job = server.checks.create({"name": "ciguard", "head_sha": HEAD.sha}, "")
    publish(server, check(), Head(sha="b" * 40))

    publish(server, check())

    assert len(server.checks.runs) == 3
    assert server.checks.runs[0]["status"] == "queued"
    assert server.checks.annotations[job["id"]] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_check_run_is_made_once_whether_or_not_the_post_was_carried_out(
    server: GitHubServer, fault: Fault
) -> None:
    server.gate = failing("POST", [fault])

    publish(server, check(60))

    assert len(server.checks.runs) == 1
    assert server.posts(CHECKS) == (1 if fault.is_late else 2)
    assert shown(server) == ("completed", "failure", list(range(1, 61)))


@pytest.mark.parametrize("fault", FAULTS)
def test_no_annotation_is_there_twice_whether_or_not_a_batch_was_carried_out(
    server: GitHubServer, fault: Fault
) -> None:
    server.gate = failing("PATCH", [None, fault, None, fault])

    publish(server, check(150))

    assert len(server.checks.runs) == 1
    assert shown(server) == ("completed", "failure", list(range(1, 151)))


def test_interrupted_check_run_is_completed_by_the_next_attempt(
    server: GitHubServer,
) -> None:
    server.gate = failing("PATCH", [None, *itertools.repeat(Fault.BAD_GATEWAY, 50)])
    with pytest.raises(TrackerUnavailableError):
        publish(server, check(90), budget_s=20)
    assert shown(server)[:2] == ("in_progress", None)
    server.gate = lambda _: None

    publish(server, check(90))

    assert len(server.checks.runs) == 1
    assert shown(server) == ("completed", "failure", list(range(1, 91)))


def test_missing_permission_is_reported_with_its_name(server: GitHubServer) -> None:
    server.checks.may_write = False
    server.repository.may_write = False

    with pytest.raises(TrackerForbiddenError, match="`checks: write`"):
        publish(server, check())
    with pytest.raises(TrackerForbiddenError, match="`pull-requests: write`"):
        comment(server)


def test_a_comment_is_written_once_and_then_brought_up_to_date(server: GitHubServer) -> None:
    comment(server, "first")
    comment(server, "second")
    server.requests.clear()
    comment(server, "second")

    assert comments(server) == ["<!-- ciguard-status: ciguard -->\nsecond"]
    assert {request.method for request in server.requests} == {"GET"}


@pytest.mark.parametrize("fault", FAULTS)
def test_there_is_one_comment_whether_or_not_the_post_was_carried_out(
    server: GitHubServer, fault: Fault
) -> None:
    server.gate = failing("POST", [fault])

    comment(server)

    assert len(comments(server)) == 1


def test_a_comment_that_never_shows_is_not_written_for_ever(server: GitHubServer) -> None:
    server.gate = failing("POST", itertools.repeat(Fault.BAD_GATEWAY))

    with pytest.raises(TrackerUnavailableError, match="does not list it yet"):
        comment(server)

    assert server.posts(COMMENTS) == 2


def test_comments_of_two_jobs_at_once_become_one(server: GitHubServer) -> None:
    for _ in range(2):
        body = {"body": "<!-- ciguard-status: ciguard -->\nof another job"}
        server.repository.create_comment(1, body, "")

    comment(server)

    assert comments(server) == ["<!-- ciguard-status: ciguard -->\nthe body"]


def test_comment_of_another_account_is_not_changed(
    server: GitHubServer,
) -> None:
    forged = "<!-- ciguard-status: ciguard -->\nforged"
    server.repository.writer = "mallory"
    server.repository.create_comment(1, {"body": forged}, "")
    server.repository.writer = "github-actions[bot]"
    server.repository.create_comment(1, {"body": "of another tool\n" + forged}, "")

    comment(server)

    assert comments(server) == [
        forged,
        "of another tool\n" + forged,
        "<!-- ciguard-status: ciguard -->\nthe body",
    ]


def test_a_token_of_another_account_keeps_to_its_own_comment(server: GitHubServer) -> None:
    server.repository.writer = "release-bot"

    for body in ("first", "second", "third"):
        comment(server, body)

    assert comments(server) == ["<!-- ciguard-status: ciguard -->\nthird"]


def test_guards_of_one_repository_have_comments_of_their_own(server: GitHubServer) -> None:
    for name in ("gpu", "cpu", "gpu"):
        comment(server, name, Head(sha=HEAD.sha, name=name))

    assert comments(server) == [
        "<!-- ciguard-status: gpu -->\ngpu",
        "<!-- ciguard-status: cpu -->\ncpu",
    ]


def test_late_run_does_not_update_the_comment_of_a_newer_commit(server: GitHubServer) -> None:
    comment(server, "newer")
    late = Head(sha="b" * 40)

    said = comment(server, "older", late)

    assert said == "comment on #1 unchanged: the pull request has a newer commit"
    assert comments(server) == ["<!-- ciguard-status: ciguard -->\nnewer"]


def test_number_of_an_issue_is_rejected_as_pull_request(server: GitHubServer) -> None:
    del server.repository.heads[1]

    with pytest.raises(TrackerError):
        comment(server)

    assert comments(server) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: Head(sha="main"),
        lambda: Head(sha="a" * 39 + "\n"),
        lambda: Head(sha="A" * 40),
        lambda: Head(sha="a" * 40, name=""),
        lambda: Head(sha="a" * 40, name="x --> <img>"),
        lambda: Comment(number=1, body="", head=HEAD, author="x/../y"),
        lambda: pull_request_number("0"),
        lambda: pull_request_number("1; rm"),
        lambda: pull_request_number("\u0661"),
        lambda: repository_of("owner", {}),
        lambda: repository_of("owner/../name", {}),
        lambda: repository_of("https://evil.example/owner/name", {}),
    ],
)
def test_malformed_names_shas_and_numbers_are_rejected(make: Callable[[], object]) -> None:
    with pytest.raises(ConfigurationError):
        make()
