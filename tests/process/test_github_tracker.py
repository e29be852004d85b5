"""GitHub's tracker when GitHub fails, refuses, limits or lags: real HTTP on the loopback."""

from __future__ import annotations

import itertools
import logging
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from github_repository import NAME
from github_server import GRAPHQL, TOKEN, Fault, GitHubServer
from tracker_stages import GitHubStage

from ciguard.errors import TrackerError, TrackerUnavailableError
from ciguard.trackers import Connection, IssueDefaults, RetryBudget
from ciguard.trackers.contract import Report, marker
from ciguard.trackers.github import GitHubTracker
from ciguard.trackers.tasks import Close, File, Refresh, perform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from github_server import Request

FINGERPRINT = "v1:0123456789abcdef"
OTHER = "v1:fedcba9876543210"
REPORT = Report(
    fingerprint=FINGERPRINT, title="torch.fold: SIGFPE", body=f"{marker(FINGERPRINT)}\n\nthe body"
)
ISSUES = f"/repos/{NAME}/issues"


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        yield made
    assert made.violations == []


@pytest.fixture
def stage(server: GitHubServer) -> GitHubStage:
    return GitHubStage(server)


def failing(method: str, faults: Iterable[Fault | None]) -> Callable[[Request], Fault | None]:
    """Return a gate that fails the requests with that method one after the other."""
    remaining = iter(faults)

    def gate(request: Request) -> Fault | None:
        is_meant = request.method == method and request.path != GRAPHQL
        return next(remaining, None) if is_meant else None

    return gate


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.PRIMARY_LIMIT])
def test_failed_post_leads_to_one_issue_whether_or_not_it_was_executed(
    server: GitHubServer, stage: GitHubStage, fault: Fault
) -> None:
    server.repository.create_label({"name": "ciguard", "color": "b60205"})
    server.gate = failing("POST", [fault])

    issue = stage.tracker().open(REPORT)

    assert issue.number == "1"
    assert len(server.repository.issues) == 1
    assert server.posts() == (1 if fault.is_late else 2)


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.PRIMARY_LIMIT])
def test_failed_listing_is_retried(server: GitHubServer, stage: GitHubStage, fault: Fault) -> None:
    server.gate = failing("GET", [fault, fault])

    assert stage.tracker().find(FINGERPRINT) is None


def test_issues_are_listed_before_each_further_post(
    server: GitHubServer, stage: GitHubStage
) -> None:
    faults = [Fault.BAD_GATEWAY, Fault.TOO_MANY, Fault.SECONDARY_LIMIT]
    server.gate = failing("POST", [None, *faults])

    stage.tracker().open(REPORT)

    kinds = [r.method for r in server.requests if r.path == ISSUES]
    assert kinds.count("POST") == 4
    assert ("POST", "POST") not in itertools.pairwise(kinds)


def test_uncertain_post_is_repeated_at_most_once(server: GitHubServer, stage: GitHubStage) -> None:
    server.repository.lag_s = 600
    server.gate = failing("POST", itertools.chain([None], itertools.repeat(Fault.LATE_RESET)))

    with pytest.raises(TrackerUnavailableError, match="does not list it yet"):
        stage.tracker().open(REPORT)

    assert server.posts() == 2


def test_late_duplicate_is_closed_by_the_next_job(server: GitHubServer, stage: GitHubStage) -> None:
    server.repository.lag_s = 600
    server.gate = failing("POST", [None, Fault.LATE_RESET])
    stage.tracker().open(REPORT)
    server.clock.sleep(700)

    issue = stage.tracker().open(REPORT)

    states = {n: s.latest["state"] for n, s in server.repository.issues.items()}
    assert issue.number == "1"
    assert states == {1: "open", 2: "closed"}
    assert server.repository.issues[2].latest["body"].startswith("Duplicate of #1")


@pytest.mark.parametrize("fault", [Fault.LATE_BAD_GATEWAY, Fault.LATE_RESET])
def test_uncertain_comment_is_not_posted_twice(
    server: GitHubServer, stage: GitHubStage, fault: Fault
) -> None:
    issue = stage.tracker().open(REPORT)
    server.gate = failing("POST", [fault])

    stage.tracker().comment(issue, "also on torch==2.14.0")

    assert stage.entries(issue) == ["also on torch==2.14.0"]


def test_comments_within_a_day_are_merged(server: GitHubServer, stage: GitHubStage) -> None:
    issue = stage.tracker().open(REPORT)

    for hour in range(30):
        stage.tracker().comment(issue, f"hour {hour}")
        server.clock.sleep(3600)

    comments = server.repository.issues[1].comments
    gaps = [b["created"] - a["created"] for a, b in itertools.pairwise(comments)]
    assert len(comments) == 2
    assert gaps[0].total_seconds() >= 86_400
    assert len(stage.entries(issue)) == 30


def test_reason_is_posted_once_although_closing_failed(
    server: GitHubServer, stage: GitHubStage
) -> None:
    issue = stage.tracker().open(REPORT)
    server.gate = failing("PATCH", itertools.repeat(Fault.BAD_GATEWAY))
    with pytest.raises(TrackerUnavailableError):
        stage.tracker(budget_s=20).close(issue, "gone")
    server.gate = lambda _: None

    closed = stage.tracker().close(issue, "gone")

    assert not closed.is_open
    assert stage.entries(issue) == ["gone"]


def test_short_rate_limit_is_waited_for(server: GitHubServer, stage: GitHubStage) -> None:
    server.reset_in_s = 40
    server.gate = failing("GET", [Fault.PRIMARY_LIMIT])
    began_s = server.clock.monotonic()

    stage.tracker().find(FINGERPRINT)

    assert 40 <= server.clock.monotonic() - began_s < 60


def test_long_rate_limit_is_not_waited_for(server: GitHubServer, stage: GitHubStage) -> None:
    server.gate = failing("GET", [Fault.PRIMARY_LIMIT])
    began_s = server.clock.monotonic()

    with pytest.raises(TrackerUnavailableError, match=r"rate limit is reached.*due in 1800 s"):
        stage.tracker().find(FINGERPRINT)

    assert server.clock.monotonic() - began_s < 5


def test_all_waits_together_stay_within_the_retry_budget(
    server: GitHubServer, stage: GitHubStage
) -> None:
    server.gate = lambda _: Fault.SECONDARY_LIMIT
    began_s = server.clock.monotonic()

    with pytest.raises(TrackerUnavailableError, match="The next run will try again"):
        stage.tracker(budget_s=30).open(REPORT)

    assert server.clock.monotonic() - began_s <= 31


def test_unreachable_server_is_reported_without_a_traceback(stage: GitHubStage) -> None:
    to = Connection(repository=NAME, api="http://127.0.0.1:9", token=TOKEN, pause_s=0)
    retry_budget = RetryBudget(10, clock=stage.clock.monotonic, sleep=stage.clock.sleep)

    with pytest.raises(TrackerUnavailableError, match=f"{NAME}: GitHub cannot be reached"):
        GitHubTracker(to, retry_budget=retry_budget).find(FINGERPRINT)


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("has_issues", False, "issues are disabled; enable them"),
        ("is_archived", True, "the repository is archived; unarchive it"),
        ("may_write", False, "lacks the permission `issues: write`"),
        (
            "drops_labels",
            True,
            "GitHub did not set the label 'ciguard', so ciguard closed the issue",
        ),
    ],
)
def test_problem_for_a_person_is_reported_at_once(
    server: GitHubServer, stage: GitHubStage, attribute: str, value: object, message: str
) -> None:
    setattr(server.repository, attribute, value)

    with pytest.raises(TrackerError, match=message) as caught:
        stage.tracker().open(REPORT)

    assert not isinstance(caught.value, TrackerUnavailableError)
    assert all(s.latest["state"] == "closed" for s in server.repository.issues.values())


def test_locked_issue_is_updated_without_a_comment(
    server: GitHubServer, stage: GitHubStage
) -> None:
    issue = stage.tracker().open(REPORT)
    server.repository.locked.add(1)
    tracker = stage.tracker()

    closed = tracker.close(issue, "gone in 2.1")
    reopened = tracker.reopen(closed, "met again in 2.2")
    tracker.comment(reopened, "also in 2.3")
    tracker.comment(reopened, "also in 2.3")

    stored = server.repository.issues[1]
    assert (closed.is_open, reopened.is_open) == (False, True)
    assert stored.comments == []
    assert stored.latest["state"] == "open"
    lines = stored.latest["body"].splitlines()
    assert [line for line in lines if "2." in line] == [
        "gone in 2.1",
        "met again in 2.2",
        "also in 2.3",
    ]


def test_issue_locked_after_the_listing_is_updated(
    server: GitHubServer, stage: GitHubStage
) -> None:
    tracker = stage.tracker()
    issue = tracker.open(REPORT)
    server.repository.locked.add(1)

    tracker.comment(issue, "also in 2.3")

    assert server.repository.issues[1].latest["body"].endswith("\n\nalso in 2.3")


def test_deleted_issue_is_filed_again_only_by_a_file_task(
    server: GitHubServer, stage: GitHubStage
) -> None:
    stage.tracker().open(REPORT)
    tracker = stage.tracker()
    tracker.find(FINGERPRINT)
    server.repository.gone.add(1)
    changed = replace(REPORT, body=f"{REPORT.body}, changed")

    refreshed = perform(Refresh(report=changed), tracker)
    closed = perform(Close(fingerprint=FINGERPRINT, because="fixed"), tracker)
    filed = perform(File(report=changed), tracker)

    assert refreshed is None
    assert closed is None
    assert filed is not None
    assert filed.number == "2"


def test_unknown_repository_token_and_assignee_are_reported(
    server: GitHubServer, stage: GitHubStage
) -> None:
    def attempt(to: Connection, defaults: IssueDefaults | None = None) -> str:
        retry_budget = RetryBudget(10, clock=stage.clock.monotonic, sleep=stage.clock.sleep)
        with pytest.raises(TrackerError) as caught:
            GitHubTracker(to, retry_budget=retry_budget, defaults=defaults).open(REPORT)
        return str(caught.value)

    api = server.address()

    missing = attempt(Connection(repository="owner/other", api=api, token=TOKEN))
    refused = attempt(Connection(repository=NAME, api=api, token="wrong"))
    known = Connection(repository=NAME, api=api, token=TOKEN, pause_s=0)
    unknown = attempt(known, IssueDefaults(assignees=("nobody",)))

    assert "owner/other: no such repository, or the token cannot read it" in missing
    assert "the token in GITHUB_TOKEN or GH_TOKEN is invalid" in refused
    assert "correct `issue-labels` or `issue-assignees`" in unknown
    assert "assignees invalid nobody" in unknown


def test_new_issue_has_the_configured_labels_and_assignees(
    server: GitHubServer, stage: GitHubStage
) -> None:
    stage.tracker(defaults=IssueDefaults(labels=("bug", "ciguard"), assignees=("octocat",))).open(
        REPORT
    )

    filed = server.repository.issues[1].latest
    assert filed["labels"] == ("ciguard", "bug")
    assert filed["assignees"] == ["octocat"]


def test_title_changed_by_a_person_stays(server: GitHubServer, stage: GitHubStage) -> None:
    stage.tracker().open(REPORT)
    server.repository.edit_issue(1, {"title": "a better title"}, "")

    stage.tracker().open(Report(fingerprint=FINGERPRINT, title="t", body=f"{REPORT.body}!"))

    assert server.repository.issues[1].latest["title"] == "a better title"
    assert server.repository.issues[1].latest["body"].endswith("!")


def test_unlabelled_issue_of_another_user_is_not_adopted(
    server: GitHubServer, stage: GitHubStage
) -> None:
    forged = {"title": "forged", "body": REPORT.body, "labels": ["ciguard"]}
    server.repository.create_issue(forged, "", by="stranger")

    filed = stage.tracker().open(REPORT)

    assert filed.number == "2"
    assert server.repository.issues[1].latest["state"] == "open"


def test_issue_of_another_user_with_a_recorded_number_is_not_adopted(
    server: GitHubServer, stage: GitHubStage
) -> None:
    server.repository.create_issue({"title": "an issue", "body": "of a person"}, "", by="stranger")
    tracker = stage.tracker()
    tracker.remember({FINGERPRINT: "1"})

    assert tracker.find(FINGERPRINT) is None


@pytest.mark.parametrize("knows_number", [True, False])
def test_issue_with_a_renamed_or_deleted_label_is_found(
    server: GitHubServer, stage: GitHubStage, *, knows_number: bool
) -> None:
    other = Report(fingerprint=OTHER, title="t", body=marker(OTHER))
    stage.tracker().open(REPORT)
    stage.tracker().open(other)
    server.repository.rename_label("ciguard", "fuzzing")
    server.repository.delete_label("fuzzing")
    tracker = stage.tracker()
    if knows_number:
        tracker.remember({FINGERPRINT: "1", OTHER: "2"})

    filed = [tracker.open(REPORT).number, tracker.open(other).number]

    assert filed == ["1", "2"]
    assert len(server.repository.issues) == 2


def test_issue_is_found_by_its_recorded_number(server: GitHubServer, stage: GitHubStage) -> None:
    stage.tracker().open(REPORT)
    server.repository.delete_label("ciguard")
    server.repository.writer = "octocat"
    tracker = stage.tracker()
    tracker.remember({FINGERPRINT: "1"})

    issue = tracker.find(FINGERPRINT)

    assert issue is not None
    assert issue.number == "1"


def test_issue_with_an_older_fingerprint_is_found_by_its_number(
    server: GitHubServer, stage: GitHubStage
) -> None:
    stage.tracker().open(REPORT)
    server.repository.delete_label("ciguard")
    server.repository.writer = "octocat"
    tracker = stage.tracker()
    tracker.remember({FINGERPRINT: "1", OTHER: "1"})

    issue = tracker.find(OTHER)

    assert issue is not None
    assert issue.number == "1"


def test_issues_with_another_label_are_found_by_it(
    server: GitHubServer, stage: GitHubStage
) -> None:
    defaults = IssueDefaults(label="fuzzing: found")
    stage.tracker(defaults=defaults).open(REPORT)
    server.repository.writer = "octocat"

    found = stage.tracker(defaults=defaults).find(FINGERPRINT)

    assert found is not None
    assert server.repository.issues[1].latest["labels"] == ("fuzzing: found",)


@pytest.mark.parametrize("sees_elsewhere", [True, False])
def test_transferred_issue_is_not_found(
    server: GitHubServer, stage: GitHubStage, *, sees_elsewhere: bool
) -> None:
    stage.tracker().open(REPORT)
    server.repository.transferred[1] = 9
    server.sees_elsewhere = sees_elsewhere
    tracker = stage.tracker()
    tracker.remember({FINGERPRINT: "1"})

    assert tracker.find(FINGERPRINT) is None
    assert tracker.open(REPORT).number == "2"


def test_token_without_a_known_login_can_file(server: GitHubServer, stage: GitHubStage) -> None:
    server.repository.writer = ""

    assert stage.tracker().open(REPORT).number == "1"


def test_run_sends_only_the_needed_requests(server: GitHubServer, stage: GitHubStage) -> None:
    tracker = stage.tracker()
    for number in range(30):
        name = f"v1:{number:016x}"
        tracker.open(Report(fingerprint=name, title="t", body=marker(name)))
    server.requests.clear()

    again = stage.tracker()
    for number in range(30):
        again.find(f"v1:{number:016x}")

    assert len(server.requests) == 1


def test_token_is_in_no_message_log_or_repr(
    server: GitHubServer, stage: GitHubStage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    to = Connection(repository=NAME, api=server.address(), token=TOKEN)
    server.repository.may_write = False

    with pytest.raises(TrackerError) as caught:
        stage.tracker().open(REPORT)

    shown = f"{caught.value} {caplog.text} {to!r} {caught.value.__cause__!r}"
    assert server.requests[-1].authorization == f"token {TOKEN}"
    assert TOKEN not in shown


def test_local_tracker_does_not_import_pygithub() -> None:
    program = "import sys, ciguard.trackers; sys.exit('github' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
